// Looks for the weights of one attempt in the others of its task. Attempts cannot see one another, so weights
// that stand in two came from the same place: copied, given, or a seed's first numbers that training hardly moved.
// Which, and who had them first, weights do not tell: nobody is struck for it, and whoever reads is told.
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import { clip } from "../admission/admission-json.ts";
import { likeness, prepared } from "./correlation.ts";
import { alike } from "./recognise.ts";
import type { Finding } from "./rule-method.ts";

export type Relative = {
  /** As evidence names it, e.g. `agent reference, seed 2`. */
  name: string;
  /** Undefined where there are no weights that could be read. */
  fingerprint: Fingerprint | undefined;
};

type Matrix = { name: string; owner: number; values: number[] };

/** One finding for each of `relatives`, in their order. */
export function kinship(relatives: Relative[]): Finding[] {
  const byShape = new Map<string, Matrix[]>();
  for (const [owner, { fingerprint }] of relatives.entries())
    for (const { name, shape, values } of fingerprint?.tensors ?? []) {
      const ready = prepared(values);
      const key = shape.join("x");
      if (ready) byShape.set(key, [...(byShape.get(key) ?? []), { name, owner, values: ready }]);
    }
  const shared = relatives.map(() => new Map<number, Map<string, number>>());
  for (const matrices of byShape.values())
    for (const [at, one] of matrices.entries())
      for (const other of matrices.slice(at + 1)) {
        if (one.owner === other.owner) continue;
        const strength = Math.abs(likeness(one.values, other.values));
        if (strength <= alike) continue;
        note(shared[one.owner]!, other.owner, one.name, strength);
        note(shared[other.owner]!, one.owner, other.name, strength);
      }
  return relatives.map((relative, at) => finding(relative, shared[at]!, relatives));
}

/** Keeps, for each other attempt, the own matrices found there and how alike each is at most. */
function note(found: Map<number, Map<string, number>>, other: number, name: string, strength: number): void {
  const matrices = found.get(other) ?? new Map<string, number>();
  found.set(other, matrices.set(name, Math.max(strength, matrices.get(name) ?? 0)));
}

function finding(
  { fingerprint }: Relative,
  shared: Map<number, Map<string, number>>,
  relatives: Relative[],
): Finding {
  const looked = fingerprint?.tensors.length ?? 0;
  if (looked === 0)
    return { answer: "cannot-tell", evidence: "there are no weights that could be compared with others'" };
  const most = [...shared].sort((a, b) => b[1].size - a[1].size || a[0] - b[0])[0];
  if (most) {
    const [other, matrices] = most;
    const [name, strength] = [...matrices].sort((a, b) => b[1] - a[1])[0]!;
    return {
      answer: "cannot-tell",
      evidence:
        `${matrices.size} of ${looked} matrices also occur in the submission of ${relatives[other]!.name}, ` +
        `e.g. ${clip(name)} (correlation ${strength.toFixed(3)}): the weights do not show whose they are`,
    };
  }
  const others = relatives.filter((other) => (other.fingerprint?.tensors.length ?? 0) > 0).length - 1;
  return { answer: "pass", evidence: `none of ${looked} matrices is one of ${others} other attempts` };
}
