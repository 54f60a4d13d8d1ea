// Looks for the weights of one attempt in the others of its task. Attempts cannot see each other, so equal weights
// have a common source: copied, given, or initial random values that training hardly changed. The weights show
// neither which nor who had them first, so no attempt is disqualified; the evidence is only shown.
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import { clip } from "../admission/clip.ts";
import { readingLimits } from "../admission/reading-limits.ts";
import { type Finding, open, passed } from "./rule-method.ts";

export type Relative = {
  /** Its name in evidence, e.g. `agent reference, seed 2`. */
  name: string;
  /** Undefined if no weights could be read. */
  fingerprint: Fingerprint | undefined;
};

/** 64 independent normal samples exceed this correlation less than once in 10^15 comparisons. */
const alike = 0.9;

type Matrix = { name: string; owner: number; values: number[] };

/** One finding for each of `relatives`, in their order. */
export function kinship(relatives: Relative[]): Finding[] {
  const shared = relatives.map(() => new Map<number, Map<string, number>>());
  const { byShape, left } = comparable(relatives);
  for (const matrices of byShape)
    for (const [at, one] of matrices.entries())
      for (let next = at + 1; next < matrices.length; next++) {
        const other = matrices[next]!;
        if (one.owner === other.owner) continue;
        const strength = Math.abs(likeness(one.values, other.values));
        if (strength <= alike) continue;
        note(shared[one.owner]!, other.owner, one.name, strength);
        note(shared[other.owner]!, one.owner, other.name, strength);
      }
  const all = { relatives, left };
  return relatives.map((_, at) => finding(at, shared[at]!, all));
}

/** The matrices of all attempts by shape, of each attempt those that come first by name; `left` counts its others. */
function comparable(relatives: Relative[]): { byShape: Matrix[][]; left: number[] } {
  const byShape = new Map<string, Matrix[]>();
  const left = relatives.map(() => 0);
  for (const [owner, { fingerprint }] of relatives.entries()) {
    const own = new Map<string, number>();
    for (const { name, shape, values } of fingerprint?.tensors ?? []) {
      const key = shape.join("x");
      const count = (own.get(key) ?? 0) + 1;
      own.set(key, count);
      if (count > readingLimits.comparedMatrices.max) {
        left[owner]!++;
        continue;
      }
      const ready = prepared(values);
      if (!ready) continue;
      byShape.getOrInsertComputed(key, () => []).push({ name, owner, values: ready });
    }
  }
  return { byShape: [...byShape.values()], left };
}

/** Records, for each other attempt, the own matrices found there and their highest correlation. */
function note(found: Map<number, Map<string, number>>, other: number, name: string, strength: number): void {
  const matrices = found.getOrInsertComputed(other, () => new Map());
  matrices.set(name, Math.max(strength, matrices.get(name) ?? 0));
}

function finding(
  at: number,
  shared: Map<number, Map<string, number>>,
  { relatives, left }: { relatives: Relative[]; left: number[] },
): Finding {
  const sizes = relatives.map(({ fingerprint }) => fingerprint?.tensors.length ?? 0);
  const looked = sizes[at]!;
  if (looked === 0) return open("there are no weights that could be compared with others'");
  const most = [...shared].sort((a, b) => b[1].size - a[1].size || a[0] - b[0])[0];
  if (most) {
    const [other, matrices] = most;
    const [name, strength] = [...matrices].sort((a, b) => b[1] - a[1])[0]!;
    return open(
      `${matrices.size} of ${looked} matrices also occur in the submission of ${relatives[other]!.name}, ` +
        `e.g. ${clip(name)} (correlation ${strength.toFixed(3)}): the weights do not show whose they are`,
    );
  }
  const others = sizes.filter((size) => size > 0).length - 1;
  const own = left[at]!;
  if (own > 0) {
    const { max, honest } = readingLimits.comparedMatrices;
    return open(
      `none of ${looked - own} matrices is one of ${others} other attempts; ${own} were not compared, being over ${max} of one shape (${honest})`,
    );
  }
  if (others === 0) return open("there is no other attempt to compare with");
  const part = left.filter((count) => count > 0).length;
  return passed(
    `none of ${looked} matrices is one of ${others} other attempts${part > 0 ? `, of which ${part} ${part === 1 ? "was" : "were"} compared in part` : ""}`,
  );
}

// Pearson's correlation in two steps, so that known values are prepared once for many comparisons.

/**
 * The list with mean 0 and length 1, ready for `likeness`. Values that are not finite become the mean.
 * Undefined if over half are not finite, or all finite ones are equal: then there is no correlation.
 */
function prepared(values: number[]): number[] | undefined {
  const finite = values.filter(Number.isFinite);
  if (finite.length * 2 < values.length) return undefined;
  // scaled first: the square of a value near F32's largest could be infinite
  const largest = Math.max(...finite.map(Math.abs));
  if (!(largest > 0)) return undefined;
  const mean = finite.reduce((sum, value) => sum + value / largest, 0) / finite.length;
  const around = values.map((value) => (Number.isFinite(value) ? value / largest - mean : 0));
  const length = Math.sqrt(around.reduce((sum, value) => sum + value * value, 0));
  return length > 1e-9 ? around.map((value) => value / length) : undefined;
}

/** Correlation of two prepared lists of equal length, -1 to 1. */
function likeness(a: number[], b: number[]): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}
