/**
 * Whether `value`, as JSON.parse gives it, has more than `max` levels of lists and objects. JSON.parse reads any
 * depth, but a recursive reader runs out of stack after some thousands.
 */
export function nestsDeeper(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return max === 0 || Object.values(value).some((one) => nestsDeeper(one, max - 1));
}
