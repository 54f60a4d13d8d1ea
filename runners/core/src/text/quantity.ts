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
 * `value` and `error`, both in `unit`, as texts in the returned unit. Scaled numbers have at most three significant
 * digits; others two of the error.
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
  const decimals = scale
    ? Math.max(0, 2 - Math.floor(Math.log10(size / divisor)))
    : errorDecimals(error ?? 0, value);
  const text = (number: number) => (number / divisor).toFixed(decimals);
  return {
    value: text(value),
    error: error === null ? null : text(error),
    unit: !scale ? unit : unit === "bytes" ? scale.unit : `${scale.unit} ${unit}`,
  };
}

/** `516 ± 3 MB`. */
export function quantityText(value: number, error: number | null, unit: string): string {
  const texts = quantity(value, error, unit);
  return `${texts.value}${texts.error === null ? "" : ` ± ${texts.error}`} ${texts.unit}`;
}

const decimalsMax = 6;

/** Without an error, what four significant digits need. */
function errorDecimals(error: number, value: number): number {
  const text = String(error > 0 ? Number(error.toPrecision(2)) : Number(value.toPrecision(4)));
  if (text.includes("e-")) return decimalsMax;
  return Math.min(decimalsMax, text.split(".")[1]?.length ?? 0);
}
