// What judges answered about attempts, in report.json.
import { answers } from "../judged/answers.ts";
import { judgeCheck } from "../judged/judge-check.ts";
import * as t from "../schema.ts";

const judgedAttempt = t.wholeObject({
  ...{ task: t.anyText, agent: t.anyText, seed: t.seed },
  family: t.about(t.textOrNull, "of the agent's model; null if it has none"),
  answers,
});
export type JudgedAttempt = t.TypeOf<typeof judgedAttempt>;

export const reportJudged = t.about(
  t.wholeObject({
    attempts: t.about(t.listOf(judgedAttempt), "one for each attempt, judge and rubric with answers"),
    checks: t.about(t.listOf(judgeCheck), "of the judges on labelled trajectories"),
  }),
  "absent if no judge was asked",
);
export type ReportJudged = t.TypeOf<typeof reportJudged>;
