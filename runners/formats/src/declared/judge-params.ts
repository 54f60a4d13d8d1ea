// The params by which a stage asks a judge, as its script and the estimate of its cost read them.
import * as t from "../schema.ts";
import { llmSpecs } from "./agent-preset.ts";
import { rubricFile } from "./rubric.ts";

const { name, questions } = rubricFile.properties;

export const judgeParams = {
  model: llmSpecs.model,
  rubric: t.wholeObject({ name, questions }),
  votes: t.positiveInteger,
} as const;

/** Of a stage that asks about extracts of known size: how many, and of how many characters at most. */
export const extractsParams = {
  extracts: t.positiveInteger,
  extractCharactersMax: t.positiveInteger,
} as const;
