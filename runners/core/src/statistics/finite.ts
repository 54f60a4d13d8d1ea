// The one gate of the statistics: a NaN that slips in would come out as a plausible-looking table cell,
// and one that is computed would reach JSON as null. Inputs are refused, results become undefined.

/** Throws when a value is not finite: scores are checked where they are read, so this is a bug of the caller. */
export function assertFinite(values: readonly number[], what: string): void {
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) throw new Error(`bug: ${what} ${at} is ${values[at]}; refuse it where it is read`);
}

/** `value`, or undefined where arithmetic on finite inputs left the range of a double. */
export function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
