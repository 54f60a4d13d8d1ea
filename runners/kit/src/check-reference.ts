// Whether a reference model scored what task.yaml expects of it. The stage that attempts wait for and the report
// both decide here, so they cannot disagree. Pure: no disk, no clock.
import type { Expectation } from "@mlrb/formats/declared/task";

/** A model at the trivial baseline scores this much better by chance in about one of 700 samples of items. */
const standardErrors = 3;

/** A row of the references stage, or why there is none. */
export type ReferenceScore =
  | { kind: "scored"; value: number; standardError: number | null; extra?: Record<string, number> }
  | { kind: "none"; why: string };

export type ReferenceAnswer = { passed: boolean; words: string };

export function checkReference(
  score: ReferenceScore,
  at: {
    expected: Expectation;
    /** The trivial baseline; undefined if there is none or it was not measured. */
    baseline: number | undefined;
    /** The rows of kind `guess`, e.g. always the same letter: a broken model can score as much as the best of them. */
    guesses: readonly number[];
    direction: "higher" | "lower";
  },
): ReferenceAnswer {
  if (score.kind === "none") return { passed: false, words: score.why };
  const { value, standardError } = score;
  if (!Number.isFinite(value)) return { passed: false, words: `${value} is no finite value` };
  const { expected, baseline, guesses, direction } = at;
  const { kind } = expected;
  switch (kind) {
    case "finite":
      return { passed: true, words: "finite; no range is known" };
    case "above-baseline": {
      if (baseline === undefined) return { passed: false, words: "the trivial baseline was not measured" };
      const gain = (over: number) => (direction === "higher" ? value - over : over - value);
      const margin = standardErrors * (standardError ?? 0);
      const guess = guesses.find((one) => gain(one) <= 0);
      if (guess !== undefined)
        return { passed: false, words: `no better than a guess that reads no question (${shown(guess)})` };
      const words = `better than the trivial baseline (${shown(baseline)}) by ${shown(gain(baseline))}; more than ${shown(margin)} expected`;
      return { passed: gain(baseline) > margin, words };
    }
    case "published": {
      const found = shareOff(score, expected);
      if (found === undefined) return { passed: false, words: `the row has no ${expected.of}` };
      const { here, share } = found;
      const off = `${share < 0 ? "-" : "+"}${(100 * Math.abs(share)).toFixed(3)} %`;
      const words = `published ${expected.value}, here ${here} (${off}; at most ${percent(expected)} expected)`;
      return { passed: Math.abs(share) <= expected.within!, words };
    }
    case "range": {
      const { low = -Infinity, high = Infinity } = expected;
      return { passed: value >= low && value <= high, words: `${low} to ${high} expected` };
    }
    default:
      return kind satisfies never;
  }
}

/** What is expected, for people. */
export function expectedText(expected: Expectation): string {
  const { kind, low, high, value, of } = expected;
  switch (kind) {
    case "published":
      return `${of === undefined ? "" : `${of} `}${value}, within ${percent(expected)}`;
    case "finite":
      return "a finite value; no range is known";
    case "above-baseline":
      return `better than the trivial baseline by more than ${standardErrors} standard errors, and than any guess; no range is known`;
    case "range":
      return `${low} to ${high}`;
    default:
      return kind satisfies never;
  }
}

/** The number that is compared, and its difference from the published one as a share; undefined without it. */
function shareOff({ value, extra = {} }: { value: number; extra?: Record<string, number> }, to: Expectation) {
  const here = to.of === undefined ? value : extra[to.of];
  return here === undefined ? undefined : { here, share: here / to.value! - 1 };
}

function percent({ within }: Expectation): string {
  return `${100 * within!} %`;
}

function shown(value: number): string {
  return value.toPrecision(4);
}
