// A p as tables show it.

/** Two significant digits; never 0. */
export function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toPrecision(2).replace(/^1\.0$/, "1");
}
