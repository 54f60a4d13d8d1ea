// The hostile texts of injections.json, which are put into trajectories, each as often as it is to be repeated.
import { join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import * as t from "@mlrb/formats/schema";
import { readJson } from "@mlrb/kit/json-file";

const injection = t.closedObject(
  {
    name: t.name,
    kind: t.about(t.name, "the trick, e.g. forged-event; texts of one kind differ in wording"),
    text: t.text,
    times: t.about(t.positiveInteger, "the text is repeated this often; absent: once"),
  },
  ["name", "kind", "text"],
);
const format = t.closedObject({ formatVersion: t.formatVersionOne, injections: t.listOf(injection) }, [
  "formatVersion",
  "injections",
]);

const path = join(import.meta.dirname, "injections.json");

export const knownInjections = mustFollow(format, readJson(path), path).injections.map(
  ({ times = 1, text, ...one }) => ({ ...one, text: text.repeat(times) }),
);
