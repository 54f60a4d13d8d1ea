// A sensitivity row of report.json: a primary mean if some attempts counted in another way.

import * as t from "../schema.ts";

const sensitivityVariant = t.about(
  t.oneOf(
    "undecided-as-pass",
    "undecided-as-baseline",
    "without-decisions",
    "not-scorable-as-missing",
    "without-resumed",
    "with-interventions",
    "marked-as-baseline",
    "marked-as-missing",
  ),
  "undecided attempts with their scores, as in the cell's mean; undecided attempts at the trivial baseline; every attempt with the machine's verdict, without any decision of a person; attempts as missing that were rejected only because such a model cannot be scored; attempts as missing that continued after their supervisor or host died; also the attempts that people extended or sent messages to, which the cell's mean leaves out; attempts that a judge marked at the trivial baseline; the same as missing",
);
export type SensitivityVariant = t.TypeOf<typeof sensitivityVariant>;

export const sensitivity = t.wholeExcept(["judge"], {
  task: t.anyText,
  agent: t.anyText,
  metric: t.anyText,
  variant: sensitivityVariant,
  judge: t.about(t.text, "whose marks a variant is about; absent for the others"),
  attempts: t.about(t.count, "attempts that the variant is about; there is at least one"),
  mean: t.about(t.numberOrNull, "by intention to treat, as the cell's; null if there is none"),
  measured: t.about(t.count, "attempts that are not missing in this variant"),
});
export type Sensitivity = t.TypeOf<typeof sensitivity>;
