// Attempts that submitted identical files did not vary. As independent attempts they would make every interval too
// narrow and every p too small.
import type { Attempt } from "@mlrb/formats/report/attempt";

/** The attempts that share a submission with another of `attempts`, by submission. */
export function equalSubmissions(attempts: Attempt[]): Attempt[][] {
  const bySubmission = Map.groupBy(
    attempts.filter(({ submission }) => submission !== null),
    ({ submission }) => submission,
  );
  return [...bySubmission.values()].filter((equal) => equal.length > 1);
}
