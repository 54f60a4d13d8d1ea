// Numbers as tables show them: the scorer's digits and a decimal point, in every locale.

const plainMax = 1e7;

/**
 * `value` with `digits` after the point; huge ones in powers of ten, so that columns stay narrow. Never "-0.000". An
 * error is in powers of ten if the value that it belongs to (`of`) is.
 */
export function digitsText(value: number, digits: number, of = value): string {
  if (Math.max(Math.abs(value), Math.abs(of)) >= plainMax) return value.toExponential(2);
  const text = value.toFixed(digits);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}
