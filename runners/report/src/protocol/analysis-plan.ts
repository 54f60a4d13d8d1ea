// What the report does with attempts and numbers, as statements that a protocol freezes. A change of the analysis
// changes its statement here; the code itself is frozen by the digest of the report's stage.
import type { ProtocolFacts } from "@mlrb/formats/report/protocol";
import type { ReportParams } from "../read/report-params.ts";

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
  "intermediate checkpoints": "in no mean, interval or test",
}).map(([name, text]) => ({ name, text }));

/** What the best of k adds at `tasks`; empty where the report is not asked for it. */
export function bestOfPlan(
  { bestOf, success, devMetric }: Pick<ReportParams, "bestOf" | "success" | "devMetric">,
  tasks: readonly string[],
): ProtocolFacts["analysis"] {
  if (bestOf.length === 0) return [];
  const each = (text: (task: string) => string) => tasks.map((task) => `${task}: ${text(task)}`).join("; ");
  const beats = (declared: number | string | null) =>
    typeof declared === "number"
      ? `${declared} or better`
      : `better than ${declared ?? "the reference model"} by two of its standard errors`;
  const rule =
    "groups of k attempts in the order of their seeds; of each the attempt with the best score on public rows, without such a score a random valid one; an exact test of these choices within groups, corrected by Holm's method over agents and k; the best test score is an upper bound only";
  return [
    { name: "best of k", text: `k = ${bestOf.join(", ")}: ${rule}` },
    { name: "scorers of public rows", text: each((task) => devMetric(task)?.name ?? "none") },
    { name: "success", text: each((task) => beats(success(task))) },
  ];
}

/** What the comparison of teams adds; empty where the pipeline names no arms. */
export function togetherPlan({ together }: Pick<ReportParams, "together">): ProtocolFacts["analysis"] {
  if (!together) return [];
  const text = `the one primary contrast is the team against the best of k in the arm ${together.primaryArm}, by the permutation test of labels within tasks, over the values of groups and of the team's attempts; all other contrasts, and the tests of pairs of agents, are exploratory`;
  return [{ name: "together", text }];
}
