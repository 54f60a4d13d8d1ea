// Whether two checkpoints differ in which items they get right. Only items on which they disagree can say so.
import { itemCombination } from "../item-combination.ts";
import type { Item } from "../ratio-estimate.ts";

export type McNemarTest =
  | {
      kind: "tested";
      items: number;
      /** Right in a and wrong in b, and the other way round. */
      onlyA: number;
      onlyB: number;
      p: number;
      /** The smallest p with as many disagreements. */
      pMin: number;
    }
  | { kind: "unpaired"; why: string };

/**
 * The exact two-sided McNemar test (1947) of two submissions on the same items, each right (value = weight) or
 * wrong (value 0). It takes items as independent draws: where they come in clusters, take pairedBootstrap.
 */
export function mcNemarTest(a: Item[], b: Item[]): McNemarTest {
  const paired = itemCombination([
    { items: a, factor: 1 },
    { items: b, factor: -1 },
  ]);
  if (paired.kind === "unpaired") return paired;
  const half = [...a, ...b].find(({ value, weight }) => value !== 0 && value !== weight);
  if (half) return { kind: "unpaired", why: `the item ${half.id} is neither right nor wrong` };
  const right = new Map(b.map((item) => [item.id, isRight(item)]));
  const onlyA = a.filter((item) => isRight(item) && !right.get(item.id)).length;
  const onlyB = a.filter((item) => !isRight(item) && right.get(item.id)).length;
  const disagreements = onlyA + onlyB;
  return {
    kind: "tested",
    items: paired.items,
    onlyA,
    onlyB,
    p: Math.min(1, 2 * halfTail(Math.min(onlyA, onlyB), disagreements)),
    pMin: Math.min(1, 2 ** (1 - disagreements)),
  };
}

function isRight({ value, weight }: Item): boolean {
  return value === weight && weight !== 0;
}

/** P(X ≤ k) of k heads in n fair throws, k ≤ n / 2; relative error under 1e-11 for n up to 20 000. */
function halfTail(k: number, n: number): number {
  let log = -n * Math.LN2;
  for (let each = 1; each <= k; each++) log += Math.log((n - k + each) / each);
  let term = 1;
  let sum = 1;
  for (let each = k; each > 0; each--) {
    term *= each / (n - each + 1);
    sum += term;
  }
  return sum * Math.exp(log);
}
