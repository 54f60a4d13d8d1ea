// Two errors that must not be added up or mistaken for each other. The spread between attempts says how
// another attempt would do on these very items; the error over items, how these very submissions would do on
// other items. An interval over attempts holds the first alone, since all attempts meet the same items.
import { mean } from "./mean.ts";
import { standardDeviation } from "./standard-deviation.ts";

export type ErrorSources = {
  attempts: number;
  /** Sample standard deviation between attempts; undefined for fewer than two. */
  betweenAttempts: number | undefined;
  /**
   * The most that the standard error over items of the mean of these attempts can be: the mean of their own,
   * reached when items are equally hard for all (correlation 1). From the samples it is exact, by
   * itemCombination. Undefined where an attempt's is not known.
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
