// Looks for the weights of one attempt in the others of its task. Attempts cannot see each other, so equal weights have a
// common source: copied, given, or initial random values that training hardly changed. The weights show neither which nor
// who had them first, so no attempt is disqualified; the evidence is only shown.
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import { clip } from "../admission/clip.ts";
import { likeness, prepared } from "./correlation.ts";
import { alike } from "./recognise.ts";
import type { Finding } from "./rule-method.ts";

export type Relative = {
  /** Its name in evidence, e.g. `agent reference, seed 2`. */
  name: string;
  /** Undefined if no weights could be read. */
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

/** Records, for each other attempt, the own matrices found there and their highest correlation. */
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
