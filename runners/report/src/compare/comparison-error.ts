// The one error that a comparison of agents is read by, in tables, in "clear" and in the sample alike.

/** The larger of the errors over items and over clusters of items; null where there is none. */
export function comparisonError(found: {
  standardError: number | null;
  clusteredStandardError: number | null;
}): number | null {
  return found.standardError === null
    ? null
    : Math.max(found.standardError, found.clusteredStandardError ?? 0);
}
