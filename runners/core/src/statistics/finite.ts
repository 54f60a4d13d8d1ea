// Guards the statistics against NaN: as an input it would come out as a plausible table cell, as a result it would
// become null in JSON. Such inputs throw, such results become undefined.

/** Throws if a value is not finite. Scores are checked when they are read, so this is a bug of the caller. */
export function assertFinite(values: readonly number[] | Float64Array, what: string): void {
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) throw new Error(`bug: ${what} ${at} is ${values[at]}; refuse it where it is read`);
}

/** `value`, or undefined if arithmetic on finite inputs overflowed. */
export function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
