// Attempts that submitted identical files. Of an agent without randomness they are repeats of one observation: as
// independent attempts they would make every interval too narrow and every p too small. Of any other agent they
// are observations that happen to be equal; to collapse them would bias the mean.
import type { Attempt } from "@mlrb/formats/report/attempt";

/** The attempts that share a submission with another of `attempts`, by submission. */
export function equalSubmissions(attempts: Attempt[]): Attempt[][] {
  const bySubmission = Map.groupBy(
    attempts.filter(({ submission }) => submission !== null),
    ({ submission }) => submission,
  );
  return [...bySubmission.values()].filter((equal) => equal.length > 1);
}

/**
 * The groups of repeats: equal submissions of an agent whose only randomness is the seed (`seeded`), or made by
 * the same sequence of tool calls.
 */
export function repeatedAttempts(attempts: Attempt[], seeded: boolean): Attempt[][] {
  return equalSubmissions(attempts).flatMap((equal) => {
    if (seeded) return [equal];
    const byActions = Map.groupBy(
      equal.filter(({ actions }) => actions !== null),
      ({ actions }) => actions,
    );
    return [...byActions.values()].filter((same) => same.length > 1);
  });
}
