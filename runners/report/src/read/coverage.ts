// How many attempts and scores were planned, and what became of them.

import { wilsonInterval } from "@mlrb/core/statistics/wilson-interval";
import { isUndisturbed } from "@mlrb/formats/declared/intervention";
import type { AgentCoverage, Coverage } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { repeatedAttempts } from "../compare/equal-submissions.ts";

export function coverage(
  attempts: Attempt[],
  { agents, gaps, seeded }: { agents: string[]; gaps: Coverage["gaps"]; seeded: (agent: string) => boolean },
): Coverage {
  const scores = attempts.flatMap((attempt) => Object.values(attempt.scores));
  const verdicts = (kind: string, of = attempts) => of.filter((each) => each.verdict.kind === kind).length;
  const scored = (kind: string) => scores.filter((score) => score.kind === kind).length;
  return {
    attempts: {
      planned: attempts.length,
      pass: verdicts("pass"),
      disqualified: verdicts("disqualified"),
      rejected: verdicts("rejected"),
      undecided: verdicts("undecided"),
      missing: verdicts("missing"),
    },
    scores: {
      planned: scores.length,
      scored: scored("scored"),
      rejected: scored("rejected"),
      notMeasured: scored("not-measured"),
    },
    agents: agents.map((agent): AgentCoverage => {
      const own = attempts.filter((attempt) => attempt.agent === agent);
      // a person's note or extension may decide whether it keeps the rules
      const counted = own.filter(isUndisturbed);
      const pass = verdicts("pass", counted);
      const judged = counted.length - verdicts("missing", counted);
      const repeated = [...Map.groupBy(own, ({ task }) => task).values()].some(
        (ofTask) => repeatedAttempts(ofTask, seeded(agent)).length > 0,
      );
      const passInterval = repeated ? null : (wilsonInterval(pass, judged) ?? null);
      const undecided = verdicts("undecided", counted);
      return { agent, planned: own.length, pass, undecided, judged, passInterval };
    }),
    gaps,
  };
}
