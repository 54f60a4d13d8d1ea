// The error of a comparison of agents, the same in tables, in `clear` and in the sample.

/** The larger of the errors over items and over clusters of items; null without an error over items. */
export function comparisonError(found: {
  standardError: number | null;
  clusteredStandardError: number | null;
}): number | null {
  return found.standardError === null
    ? null
    : Math.max(found.standardError, found.clusteredStandardError ?? 0);
}
