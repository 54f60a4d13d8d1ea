// Two errors that must not be added or confused. The spread between attempts predicts another attempt on the same
// items; the error over items predicts the same submissions on other items. An interval over attempts contains
// only the first, since all attempts have the same items.
import { mean, standardDeviation } from "./mean.ts";

export type ErrorSources = {
  attempts: number;
  /** Sample standard deviation between attempts; undefined for fewer than two. */
  betweenAttempts: number | undefined;
  /**
   * An upper bound of the standard error over items of the mean of these attempts: the mean of their own errors,
   * reached at correlation 1. itemCombination computes the exact value from samples. Undefined if the error of an
   * attempt is unknown.
   */
  overItems: number | undefined;
};

/** Both errors of the attempts of one cell, in the metric's unit. Throws on values that are not finite. */
export function errorSources(
  attempts: readonly { value: number; itemStandardError: number | undefined }[],
): ErrorSources {
  const own = attempts.flatMap((attempt) => attempt.itemStandardError ?? []);
  const negative = own.find((each) => each < 0);
  if (negative !== undefined) throw new Error(`bug: a standard error of ${negative}`);
  return {
    attempts: attempts.length,
    betweenAttempts: standardDeviation(attempts.map(({ value }) => value)),
    overItems: own.length === attempts.length ? mean(own) : undefined,
  };
}
