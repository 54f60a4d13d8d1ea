// What an attempt was expected to cost before it ran. A type of its own, since records hold it and
// estimates are made from records.

export type CostEstimate = {
  /** null: it holds devices, and nothing bounds for how long. */
  gpuHours: number | null;
  /** null: nobody knows. A stage that is handed no secrets has nobody to pay. */
  dollars: number | null;
  /** How long it runs; null where neither earlier ones nor a budget tell. */
  timeMs: number | null;
  /** How many earlier attempts it is the median of; 0: from the budget, which is an upper bound. */
  from: number;
};
