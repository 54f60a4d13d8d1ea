// What the report does with attempts and numbers, as statements that a protocol freezes. A change of the analysis
// changes its statement here; the code itself is frozen by the digest of the report's stage.
import type { ProtocolFacts } from "@mlrb/formats/report/protocol";

export const analysisPlan: ProtocolFacts["analysis"] = Object.entries({
  "primary outcome":
    "the unweighted mean over tasks of each agent's normalised score on the metric that decides the task, 0 at the trivial baseline and 1 at the reference model",
  "primary test":
    "a two-sided permutation test of the agents' labels within tasks, over all tasks; its statistic is the mean over tasks of P(one agent is better); of more than two agents, corrected by Holm's method over the pairs",
  level: "0.05",
  "tests of single tasks":
    "the same test for each task, corrected by Holm's method over the tasks of all pairs; what has too few attempts is not tested",
  intervals:
    "95 %: Student-t for the mean of valid attempts, Wilson for pass rates, inverted permutation test for the difference of means over tasks",
  "several seeds":
    "attempts are the unit; equal submissions of one seeded agent are one observation, and give no interval and no test",
  "invalid, rejected or disqualified": "counted, as the task's trivial baseline",
  "valid but worse than the trivial baseline": "counted as the trivial baseline",
  undecided: "counted with its score; the sensitivity table shows the other ways",
  "failures of the harness":
    "missing: in no mean; if more than a fifth of the planned attempts are missing, there is no interval and no test",
  resumed: "counted; the sensitivity table shows the mean without them",
  "extended by a person": "missing: in no mean; the sensitivity table shows the mean with them",
  success:
    "a score from which task.yaml says `success`, or better than the row that it names there by two standard errors of that row, by default the reference model's",
  "best of k":
    "for each k of the parameter best-of: groups of k attempts in the order of their seeds; of each the attempt with the best score of task.yaml's dev scorer on public rows, without such rows a random valid one; an exact test of the choices within groups, corrected by Holm's method over agents and k; the best test score is an upper bound only",
  "intermediate checkpoints": "in no mean, interval or test",
}).map(([name, text]) => ({ name, text }));
