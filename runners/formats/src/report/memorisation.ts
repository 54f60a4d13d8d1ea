// Whether a model predicts a task's private texts better than matched public ones, in report.json.

import * as t from "../schema.ts";

const memorisationCompared = t.variant("compared", {
  difference: t.about(
    t.number,
    "bits per byte: (private − public) of the model minus the same of the reference; negative favours private texts",
  ),
  standardError: t.about(t.amount, "of the difference, over documents"),
  noted: t.about(t.flag, "whether private texts are favoured by more than five standard errors"),
});
const notMeasured = t.variant("not-measured", { cause: t.anyText });

export const attemptMemorisation = t.about(
  t.kindsOf(
    memorisationCompared,
    t.about(t.variant("no-private-documents"), "the task scores none"),
    notMeasured,
  ),
  "a note; it changes no number. Absent if the pipeline does not measure it",
);
export type AttemptMemorisation = t.TypeOf<typeof attemptMemorisation>;

export const reportMemorisation = t.about(
  t.wholeObject({
    tasks: t.listOf(
      t.wholeObject({
        task: t.anyText,
        reference: t.about(t.anyText, "the model that attempts are compared with"),
        models: t.about(
          t.listOf(t.kindsWith({ name: t.anyText }, memorisationCompared, notMeasured)),
          "the other reference models, none of which saw a private text",
        ),
      }),
    ),
    falseAlarms: t.about(
      t.wholeObject({
        noted: t.count,
        models: t.about(t.count, "the compared reference models of all tasks; equal ones count once"),
        upper: t.about(
          t.nullable(t.amount),
          "upper end of Wilson's 95 % interval of noted / models; null without models",
        ),
      }),
      "how often the note is wrong",
    ),
  }),
  "absent if the pipeline does not measure it",
);
export type ReportMemorisation = t.TypeOf<typeof reportMemorisation>;
