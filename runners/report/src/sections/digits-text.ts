// Numbers as tables show them: the scorer's digits and a decimal point, in every locale.

const plainMax = 1e7;

/**
 * `value` with `digits` after the point, or rounded to tens, hundreds and so on if `digits` is negative; huge ones in powers of ten, so that columns stay narrow. Never "-0.000". An
 * error is in powers of ten if the value that it belongs to (`of`) is.
 */
export function digitsText(value: number, digits: number, of = value): string {
  if (Math.max(Math.abs(value), Math.abs(of)) >= plainMax) return value.toExponential(2);
  const text = digits >= 0 ? value.toFixed(digits) : roundedTo(10 ** -digits, value).toFixed(0);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

function roundedTo(unit: number, value: number): number {
  return Math.round(value / unit) * unit;
}
