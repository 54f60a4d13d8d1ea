// admission.json: whether the submission can be loaded. It is separate from the verdict, so that a changed rule rescores
// nothing.
import {
  anyText,
  count,
  fileFormat,
  flag,
  listOf,
  oneOf,
  type TypeOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

/** The reason's code of a model of a family that no scorer can score. */
export const notScorable = "not-scorable";

const reason = wholeObject({ code: text, detail: anyText });
export type AdmissionReason = TypeOf<typeof reason>;

export const reasons = {
  ...listOf(reason),
  description: "why it is not admitted, in the order found; empty if admitted",
} as const;

const undecided = {
  ...listOf(reason),
  description:
    "settings that may change the model and that the benchmark does not know: nothing is scored until it does",
} as const;

const droppedSetting = wholeObject({ file: text, key: anyText, why: text });
export type DroppedSetting = TypeOf<typeof droppedSetting>;
const dropped = {
  ...listOf(droppedSetting),
  description: "settings that the folder that scorers load leaves out, the first 100 of them",
} as const;

/** causal: predictions use earlier text only; undecided: the test could not be made. */
export const causalityVerdict = oneOf("causal", "looks-ahead", "undecided");

export const untestedKinds = {
  ...listOf(wholeObject({ kind: text, detail: anyText })),
  description:
    "kinds of scored text on which the submission fails: scorers of these kinds reject it; absent if none",
} as const;

const lookAhead = {
  ...wholeExcept(["untested"], { verdict: causalityVerdict, detail: text, untested: untestedKinds }),
  description:
    "whether predictions use the text that they predict; absent where the task has no scorer that this would help",
} as const;

const tokenizer = {
  ...wholeObject({ answer: oneOf("pass", "fail", "undecided"), detail: text }),
  description:
    "whether the tokenizer's files rewrite letters or hold scored texts, of which only counts are said; absent like lookAhead",
} as const;

const ignoredEntry = wholeObject({ path: anyText, why: text });
export type IgnoredEntry = TypeOf<typeof ignoredEntry>;
const ignored = {
  ...wholeObject({ count, first: listOf(ignoredEntry) }),
  description:
    "what is in the folder and no loader opens, at its top level: how many (at most 100 000), and the first 100 by name",
} as const;

export const admission = fileFormat(
  "mlrb admission",
  wholeExcept(["undecided", "dropped", "ignored", "lookAhead", "tokenizer"], {
    formatVersion: { const: 1 },
    admitted: flag,
    reasons,
    undecided,
    dropped,
    ignored,
    lookAhead,
    tokenizer,
  }),
);
export type Admission = TypeOf<typeof admission>;
