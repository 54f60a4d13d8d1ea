// admission.json: whether the submission can be loaded. It is separate from the verdict, so that a changed rule
// rescores nothing.
import * as t from "../schema.ts";

/** The reason's code of a model of a family that no scorer can score. */
export const notScorable = "not-scorable";

const reason = t.wholeObject({ code: t.text, detail: t.anyText });
export type AdmissionReason = t.TypeOf<typeof reason>;

export const reasons = t.about(
  t.listOf(reason),
  "why it is not admitted, in the order found; empty if admitted",
);

const undecided = t.about(
  t.listOf(reason),
  "settings that may change the model and that the benchmark does not know: nothing is scored until it does",
);

const droppedSetting = t.wholeObject({ file: t.text, key: t.anyText, why: t.text });
export type DroppedSetting = t.TypeOf<typeof droppedSetting>;
const dropped = t.about(
  t.listOf(droppedSetting),
  "settings that the folder that scorers load leaves out, the first 100 of them",
);

/** causal: predictions use earlier text only; undecided: the test could not be made. */
export const causalityVerdict = t.oneOf("causal", "looks-ahead", "undecided");

export const untestedKinds = t.about(
  t.listOf(t.wholeObject({ kind: t.text, detail: t.anyText })),
  "kinds of scored text on which the submission fails: scorers of these kinds reject it; absent if none",
);

const lookAhead = t.about(
  t.wholeExcept(["untested"], { verdict: causalityVerdict, detail: t.text, untested: untestedKinds }),
  "whether predictions use the text that they predict; absent where the task has no scorer that this would help",
);

const tokenizer = t.about(
  t.wholeObject({ answer: t.oneOf("pass", "fail", "undecided"), detail: t.text }),
  "whether the tokenizer's files rewrite letters or hold scored texts, of which only counts are said; absent like lookAhead",
);

const ignoredEntry = t.wholeObject({ path: t.anyText, why: t.text });
export type IgnoredEntry = t.TypeOf<typeof ignoredEntry>;
const ignored = t.about(
  t.wholeObject({ count: t.count, first: t.listOf(ignoredEntry) }),
  "what is in the folder and no loader opens, at its top level: how many (at most 100 000), and the first 100 by name",
);

export const admission = t.fileFormat(
  "mlrb admission",
  t.wholeExcept(["undecided", "dropped", "ignored", "lookAhead", "tokenizer"], {
    formatVersion: { const: 1 },
    admitted: t.flag,
    reasons,
    undecided,
    dropped,
    ignored,
    lookAhead,
    tokenizer,
  }),
);
export type Admission = t.TypeOf<typeof admission>;
