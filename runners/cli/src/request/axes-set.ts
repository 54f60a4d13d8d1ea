// The `--set` with which a plan has the instances of these attempts, also those that a run with `--set` had added.
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";

export function axesSet(cards: Pick<AttemptCard, "axes">[]): string[] {
  const values = new Map<string, Set<string>>();
  for (const { axes } of cards)
    for (const [axis, value] of Object.entries(axes))
      values.set(axis, (values.get(axis) ?? new Set()).add(String(value)));
  return [...values].map(([axis, all]) => `${axis}=${[...all].join(",")}`);
}
