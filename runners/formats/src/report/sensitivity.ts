// A sensitivity row of report.json: a primary mean if some attempts counted in another way.

import { anyText, count, numberOrNull, oneOf, type TypeOf, wholeObject } from "../schema.ts";

const sensitivityVariant = {
  ...oneOf(
    "undecided-as-pass",
    "undecided-as-floor",
    "without-decisions",
    "not-scorable-as-missing",
    "without-resumed",
    "with-interventions",
  ),
  description:
    "undecided attempts with their scores, as in the cell's mean; undecided attempts at the trivial baseline; every attempt with the machine's verdict, without any decision of a person; attempts as missing that were rejected only because such a model cannot be scored; attempts as missing that continued after their supervisor or host died; also the attempts that people extended or sent messages to, which the cell's mean leaves out",
} as const;
export type SensitivityVariant = TypeOf<typeof sensitivityVariant>;

export const sensitivity = wholeObject({
  task: anyText,
  agent: anyText,
  metric: anyText,
  variant: sensitivityVariant,
  attempts: { ...count, description: "attempts that the variant is about; there is at least one" },
  mean: { ...numberOrNull, description: "by intention to treat, as the cell's; null if there is none" },
  measured: { ...count, description: "attempts that are not missing in this variant" },
});
export type Sensitivity = TypeOf<typeof sensitivity>;
