// The hostile texts of pipelines/judges/injections.json, each as often as it is to be repeated.
import { join } from "node:path";
import { injectionsFile } from "@mlrb/formats/judged/injections";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";

const path = join(import.meta.dirname, "../../../../../pipelines/judges/injections.json");

export const knownInjections = mustFollow(injectionsFile, readJson(path), path).injections.map(
  ({ name, text, times = 1 }) => ({ name, text: text.repeat(times) }),
);
