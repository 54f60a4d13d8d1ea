// Reads what judges answered about the attempts of a run, and marks the attempts.
import { answers } from "@mlrb/formats/judged/answers";
import { judgeCheck } from "@mlrb/formats/judged/judge-check";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { ReportJudged } from "@mlrb/formats/report/judged";
import type { ArtifactReader } from "../read/artifact-reader.ts";
import { readPlain } from "../read/read-plain.ts";
import { decidedMarks } from "./decided-marks.ts";
import { judgeGroups, marksOf } from "./judge-groups.ts";

/** Of a quote or a reason of a judge, in characters. */
const quoteMax = 1000;

/** Of all judges; undefined if none answered. `familyOf`: of an agent's model. */
export function readJudged(
  reader: ArtifactReader,
  familyOf: (agent: string) => string | null,
): ReportJudged | undefined {
  const members = [...reader.plan.members.values()];
  const attempts = members.flatMap((member) => {
    const { task, agent, seed } = member.axes;
    if (member.role !== "answers-of-judge") return [];
    const found = reader.parsed(member, "answers", (text) => readPlain(answers, text, quoteMax));
    if (found.kind !== "ok") return [];
    const place = { task: String(task), agent: String(agent), seed: seed! };
    return [{ ...place, family: familyOf(place.agent), answers: found.value }];
  });
  const checks = members.flatMap((member) => {
    if (member.role !== "judge-check") return [];
    const found = reader.parsed(member, "check", (text) => readPlain(judgeCheck, text));
    return found.kind === "ok" ? [found.value] : [];
  });
  return attempts.length === 0 ? undefined : { attempts, checks };
}

/** Marks each attempt of which an answer asks for it, after decisions of people. */
export function markAttempts(attempts: Attempt[], { attempts: judged, checks }: ReportJudged): void {
  const groups = judgeGroups(judged, checks);
  for (const attempt of attempts) {
    const marks = decidedMarks(marksOf(groups, attempt), attempt.decisions ?? []);
    if (marks.length > 0) attempt.marks = marks;
  }
}
