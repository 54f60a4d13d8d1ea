// Parses a value of the axis `moment`: a share of an attempt's budget in percent.

/** The share, over 0 and under 1, e.g. for `25%`; undefined for other values. */
export function momentShare(moment: string | number): number | undefined {
  const share = Number(/^(\d{1,2}(?:\.\d+)?)%$/.exec(String(moment))?.[1]) / 100;
  return share > 0 ? share : undefined;
}
