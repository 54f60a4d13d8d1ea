// Whether a model predicts a task's private texts better than matched public ones, in report.json.

import {
  amount,
  anyText,
  count,
  flag,
  kindsOf,
  kindsWith,
  listOf,
  nullable,
  number,
  type TypeOf,
  wholeObject,
} from "../schema.ts";

const memorisationCompared = wholeObject({
  kind: { const: "compared" },
  difference: {
    ...number,
    description:
      "bits per byte: (private − public) of the model minus the same of the reference; negative favours private texts",
  },
  standardError: { ...amount, description: "of the difference, over documents" },
  noted: { ...flag, description: "whether private texts are favoured by more than five standard errors" },
});
const notMeasured = wholeObject({ kind: { const: "not-measured" }, cause: anyText });

export const attemptMemorisation = {
  ...kindsOf(
    memorisationCompared,
    { ...wholeObject({ kind: { const: "no-private-documents" } }), description: "the task scores none" },
    notMeasured,
  ),
  description: "a note; it changes no number. Absent if the pipeline does not measure it",
} as const;
export type AttemptMemorisation = TypeOf<typeof attemptMemorisation>;

export const reportMemorisation = {
  ...wholeObject({
    tasks: listOf(
      wholeObject({
        task: anyText,
        reference: { ...anyText, description: "the model that attempts are compared with" },
        models: {
          ...listOf(kindsWith({ name: anyText }, memorisationCompared, notMeasured)),
          description: "the other reference models, none of which saw a private text",
        },
      }),
    ),
    falseAlarms: {
      ...wholeObject({
        noted: count,
        models: {
          ...count,
          description: "the compared reference models of all tasks; equal ones count once",
        },
        upper: {
          ...nullable(amount),
          description: "upper end of Wilson's 95 % interval of noted / models; null without models",
        },
      }),
      description: "how often the note is wrong",
    },
  }),
  description: "absent if the pipeline does not measure it",
} as const;
export type ReportMemorisation = TypeOf<typeof reportMemorisation>;
