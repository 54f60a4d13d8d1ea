// Finds numbers in the output of programs: to check claims, and as the metric of experiments without a claim.

export type PrintedValue = { name: string; split: string | null; value: number };

const names =
  "bits[ _-]per[ _-]byte|bpb|loss|perplexity|ppl|accuracy|acc|f1|rouge\\w*|em|exact[ _-]match|score|mean";
const splits = "train|dev|val|valid|validation|test|eval|held[ _-]?out";
const number = "-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?|nan|inf|-inf";
// Repeats are bounded: output is hostile, and two adjacent unbounded repeats take quadratic time.
// `val_acc=0.8`: \b sees no word boundary at an underscore
const nameFirst = new RegExp(
  `(?:\\b(?<split>${splits})[ _/-]{1,4})?(?<![a-zA-Z0-9])(?<name>${names})(?![a-zA-Z0-9])\\s{0,8}[:=]?\\s{0,8}(?<value>${number})(?![\\w])`,
  "gi",
);
const numberFirst = new RegExp(
  `(?:\\b(?<split>${splits})[ _/:-]{1,4})?\\b(?<value>${number})\\s{1,4}(?<name>bits per byte)\\b`,
  "gi",
);
const anyNumber = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const textMax = 1 << 16;

/** Named values in order, including NaN and infinities. */
export function printedValues(text: string): PrintedValue[] {
  const part = text.slice(-textMax);
  const found = [...part.matchAll(nameFirst), ...part.matchAll(numberFirst)];
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ groups: { split, name, value } = {} }) => ({
      name: name!.toLowerCase().replace(/[ _]/g, "-"),
      split: split?.toLowerCase() ?? null,
      value: toNumber(value!),
    }));
}

function toNumber(text: string): number {
  const low = text.toLowerCase();
  if (low === "nan") return Number.NaN;
  return low.endsWith("inf") ? (low.startsWith("-") ? -Infinity : Infinity) : Number(text);
}

/** The number in `text` that equals `claimed` to its printed digits, directly or in per cent. */
export function printedAs(text: string, claimed: number): number | undefined {
  for (const [found] of text.slice(-textMax).matchAll(anyNumber)) {
    const value = Number(found);
    const digits = /\.(\d+)/.exec(found)?.[1]?.length ?? 0;
    // a printed 1 is common and does not confirm a claim of 0.97
    if (digits === 0 && value !== claimed && value !== claimed * 100) continue;
    const half = 0.5 * 10 ** -digits * 1.0001;
    if (Math.abs(value - claimed) <= half) return value;
    if (digits > 0 && Math.abs(value - claimed * 100) <= half) return value / 100;
  }
  return undefined;
}

/** Whether higher is better for a metric; undefined if its name does not show it. */
export function higherIsBetter(name: string): boolean | undefined {
  if (/loss|perplexity|ppl|bits|bpb|error|nll|mse|mae|wer/i.test(name)) return false;
  if (/acc|f1|rouge|em\b|match|right|score|correct|faithful|compiles|domain|pairs|facts/i.test(name))
    return true;
  return undefined;
}
