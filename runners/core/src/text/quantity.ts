// A measured number for people, with its error in the same unit: `516 ± 3 MB`, never `5.16e+8 ± 2966543`.
// Pure: no disk, no clock.

type Scale = { from: number; unit: string };

const ofBytes: Scale[] = [
  { from: 1e12, unit: "TB" },
  { from: 1e9, unit: "GB" },
  { from: 1e6, unit: "MB" },
  { from: 1e3, unit: "kB" },
];
/** Smaller numbers of other units are read well as they are. */
const ofLarge: Scale[] = [
  { from: 1e12, unit: "trillion" },
  { from: 1e9, unit: "billion" },
  { from: 1e6, unit: "million" },
];
const plainMax = 1e7;

/**
 * `value` and `error`, both in `unit`, as texts in the returned unit. Scaled numbers have three significant
 * digits; others two of the error. Where an error, or a value without one, would be printed as 0 and is not, there
 * are more digits, and with too many of them a bound: `<0.000001`.
 */
export function quantity(
  value: number,
  error: number | null,
  unit: string,
): { value: string; error: string | null; unit: string } {
  const size = Math.max(Math.abs(value), error ?? 0);
  const scales = unit === "bytes" ? ofBytes : size >= plainMax ? ofLarge : [];
  const scale = scales.find(({ from }) => size >= from);
  const divisor = scale?.from ?? 1;
  const usual = scale
    ? Math.max(0, 2 - Math.floor(Math.log10(size / divisor)))
    : errorDecimals(error ?? 0, value);
  // a value may be 0 within its error
  const exact = (error || value) / divisor;
  const decimals = shownDecimals(exact, usual, scale ? 1 : 2);
  const text = (number: number) => (number / divisor).toFixed(decimals);
  const bound = (number: number) =>
    number !== 0 && Number(text(number)) === 0
      ? `${number < 0 ? ">-" : "<"}${(10 ** -decimals).toFixed(decimals)}`
      : text(number);
  return {
    value: error ? text(value) : bound(value),
    error: error === null ? null : bound(error),
    unit: !scale ? unit : unit === "bytes" ? scale.unit : `${scale.unit} ${unit}`,
  };
}

/** `516 ± 3 MB`. */
export function quantityText(value: number, error: number | null, unit: string): string {
  const texts = quantity(value, error, unit);
  return `${texts.value}${texts.error === null ? "" : ` ± ${texts.error}`} ${texts.unit}`;
}

const decimalsMax = 6;
/** For a number that would otherwise be printed as 0. */
const smallDecimalsMax = 12;

/** `usual`, or as many as `digits` significant digits of a number need that would be printed as 0. */
function shownDecimals(number: number, usual: number, digits: number): number {
  if (number === 0 || Number(number.toFixed(usual)) !== 0) return usual;
  return Math.min(smallDecimalsMax, digits - 1 - Math.floor(Math.log10(Math.abs(number))));
}

/** Without an error, what four significant digits need. */
function errorDecimals(error: number, value: number): number {
  const text = String(error > 0 ? Number(error.toPrecision(2)) : Number(value.toPrecision(4)));
  if (text.includes("e-")) return decimalsMax;
  return Math.min(decimalsMax, text.split(".")[1]?.length ?? 0);
}
