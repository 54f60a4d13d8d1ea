// The kind of reference models over which normalised scores are averaged. A score of 1 means something else on
// each kind: an n-gram, an unchanged model or the right answers.
import type { ReferenceKind } from "@mlrb/formats/judged/references";

/**
 * The kind of more of `kinds` than any other; nulls are of unknown kinds. Null if two kinds are equally frequent:
 * which of them to use would be arbitrary.
 */
export function commonKind(kinds: readonly (ReferenceKind | null)[]): ReferenceKind | null {
  const known = kinds.filter((kind) => kind !== null);
  const counts = [...Map.groupBy(known, (kind) => kind)]
    .map(([kind, same]) => ({ kind, count: same.length }))
    .sort((a, b) => b.count - a.count);
  const [most, second] = counts;
  return most && most.count > (second?.count ?? 0) ? most.kind : null;
}
