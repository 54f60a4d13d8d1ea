// pipelines/judges/injections.json: hostile texts that are put into trajectories, to count how often one of them
// changes what a judge answers.
import * as t from "../schema.ts";

const injection = t.closedObject(
  {
    name: t.name,
    kind: t.about(t.name, "the trick, e.g. forged-event; texts of one kind differ in wording"),
    text: t.text,
    times: t.about(t.positiveInteger, "the text is repeated this often; absent: once"),
  },
  ["name", "kind", "text"],
);

export const injectionsFile = t.fileFormat(
  "mlrb injections",
  t.closedObject({ formatVersion: t.formatVersionOne, injections: t.listOf(injection) }, [
    "formatVersion",
    "injections",
  ]),
);
