// The items of a score as columns: a score may have 67 000 items and a report seventy such scores, so items are no
// objects. Lists of the same test can share the columns of their names.
import { assertFinite } from "./finite.ts";

export type Item = { id: string; value: number; weight: number; group?: string };

/** Columns of one length, which never change. */
export type Items = {
  ids: readonly string[];
  /** Finite. */
  values: Float64Array;
  /** Finite. */
  weights: Float64Array;
  groups: Groups;
};

/** The group of each item as its index in `names`, which are in order of first appearance; −1: no group. */
export type Groups = { names: readonly string[]; of: Int32Array };

/** `items` in columns. Throws on values and weights that are not finite. */
export function itemColumns(items: readonly Item[]): Items {
  const numbers = new Map<string, number>();
  const of = Int32Array.from(items, ({ group }) =>
    group === undefined ? -1 : numbers.getOrInsert(group, numbers.size),
  );
  return {
    ids: items.map(({ id }) => id),
    values: columnOf(items, "value"),
    weights: columnOf(items, "weight"),
    groups: { names: [...numbers.keys()], of },
  };
}

function columnOf(items: readonly Item[], field: "value" | "weight"): Float64Array {
  const column = Float64Array.from(items, (item) => item[field]);
  assertFinite(column, `item ${field}`);
  return column;
}
