// A p as tables show it.

/** Two digits that count; never 0, which no p is. */
export function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toPrecision(2).replace(/^1\.0$/, "1");
}
