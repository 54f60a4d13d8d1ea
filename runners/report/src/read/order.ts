// The report sorts its lists with these, so that neither the members' order nor a locale matters.

/** By code unit. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Numbers first, by size; then texts, by code unit. */
export function bySeed(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return byText(String(a), String(b));
}
