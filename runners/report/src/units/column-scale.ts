// The unit in which a table prints the numbers of one metric, measurement or column: the same for all of them, so
// that they can be compared by eye, and large enough that none is printed in powers of ten. Pure.

/** Numbers are divided by `divisor` and have at most `decimals` digits after the point. */
export type ColumnScale = { divisor: number; decimals: number; unit: string };

type Step = { from: number; unit: string };

/** Largest first. `from` is also the divisor. */
const steps = {
  bytes: [
    { from: 1e12, unit: "TB" },
    { from: 1e9, unit: "GB" },
    { from: 1e6, unit: "MB" },
    { from: 1e3, unit: "kB" },
  ],
  count: [
    { from: 1e9, unit: "billion" },
    { from: 1e6, unit: "million" },
  ],
  seconds: [
    { from: 3600, unit: "h" },
    { from: 60, unit: "min" },
  ],
  mebibytes: [{ from: 1024, unit: "GiB" }],
} satisfies Record<string, Step[]>;

export type Quantity = keyof typeof steps;

/** Counts and durations are read well up to here without another unit. */
const plainMax: Record<Quantity, number> = { bytes: 999, count: 1e7, seconds: 600, mebibytes: 1e4 };

const significant = 3;
const decimalsMax = 3;

/**
 * The unit that suits the middle of `values`, with three significant digits of the smallest, at most three after
 * the point. Undefined where the numbers are read well as they are.
 */
export function columnScale(values: readonly number[], quantity: Quantity): ColumnScale | undefined {
  const sizes = values
    .map(Math.abs)
    .filter((size) => size > 0 && Number.isFinite(size))
    .sort((a, b) => a - b);
  const middle = sizes[Math.floor(sizes.length / 2)];
  if (middle === undefined || middle <= plainMax[quantity]) return undefined;
  const step = steps[quantity].find(({ from }) => middle >= from);
  if (step === undefined) return undefined;
  const exponent = Math.floor(Math.log10(sizes[0]! / step.from));
  const decimals = Math.min(decimalsMax, Math.max(0, significant - 1 - exponent));
  return { divisor: step.from, decimals, unit: step.unit };
}

/** How a column prints amounts: each value, and the unit that its head must name, empty if the numbers have their own. */
type AmountColumn = { text: (value: number) => string; headUnit: string };

/** `digits` after the point where the numbers stay in their own unit. */
export function amountColumn(
  values: readonly number[],
  quantity: Quantity | undefined,
  digits: number,
): AmountColumn {
  const scale = quantity && columnScale(values, quantity);
  if (scale === undefined) return { text: (value) => value.toFixed(digits), headUnit: "" };
  return { text: (value) => scaledText(value, scale), headUnit: scale.unit };
}

/** A value that would be printed as 0 has more digits. */
export function scaledText(
  value: number,
  { divisor, decimals }: Pick<ColumnScale, "divisor" | "decimals">,
): string {
  const scaled = value / divisor;
  const text = fixedText(scaled, decimals);
  if (scaled === 0 || Number(text) !== 0) return text;
  return fixedText(scaled, Math.min(scaledDecimalsMax, 1 - Math.floor(Math.log10(Math.abs(scaled)))));
}

/** A byte in the largest unit. */
const scaledDecimalsMax = 12;

/** `digits` after the point; rounded to tens, hundreds and so on if `digits` is negative. Never "-0.000". */
export function fixedText(value: number, digits: number): string {
  const text = digits >= 0 ? value.toFixed(digits) : roundedTo(10 ** -digits, value).toFixed(0);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

function roundedTo(unit: number, value: number): number {
  return Math.round(value / unit) * unit;
}

/** Digits after the point of numbers in their own unit, or the unit of a column. */
export type Digits = number | Pick<ColumnScale, "divisor" | "decimals">;
