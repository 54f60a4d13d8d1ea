// Parses a value of the axis `checkpoint`: a share of an attempt's budget in percent.

/** The share, over 0 and under 1, e.g. for `25%`; undefined for other values. */
export function checkpointShare(checkpoint: string | number): number | undefined {
  const share = Number(/^(\d{1,2}(?:\.\d+)?)%$/.exec(String(checkpoint))?.[1]) / 100;
  return share > 0 ? share : undefined;
}
