// What a value of the axis `moment` stands for: a share of an attempt's budget, written in percent.

/** The share that e.g. `25%` names, over 0 and under 1; undefined of what names none. */
export function momentShare(moment: string | number): number | undefined {
  const share = Number(/^(\d{1,2}(?:\.\d+)?)%$/.exec(String(moment))?.[1]) / 100;
  return share > 0 ? share : undefined;
}
