// What went wrong in a run, for its first screen: attempts without a result, broken and undecided rules, scores
// and stages that failed. Each has its first cause, never that a later stage was skipped.
import type { Attempt } from "@mlrb/formats/report/attempt";
import { resumedText } from "../read/attempt-marks.ts";
import { decisionsOn, decisionText } from "../read/decisions.ts";
import type { PageData } from "./page-data.ts";
import { attemptId, instanceId } from "./section-html.ts";

/** `id`: the element with the details. */
type Trouble = { where: string; cause: string; id: string };
/** `what`: what is counted, e.g. `disqualified`. */
export type TroubleKind = { what: string; found: Trouble[] };

/** Kinds without a case are left out. */
export function wentWrong({ report: { attempts }, instances }: PageData): TroubleKind[] {
  const of = (kind: Attempt["verdict"]["kind"]) =>
    attempts
      .filter(({ verdict }) => verdict.kind === kind)
      .map((one) => attemptTrouble(one, verdictCause(one)));
  const resumed = attempts.filter((one) => one.resumed !== undefined);
  const kinds = [
    { what: "without a result", found: of("missing") },
    { what: "disqualified", found: of("disqualified") },
    { what: "rejected", found: of("rejected") },
    { what: "undecided", found: of("undecided") },
    { what: "not measured", found: attempts.flatMap(scoreTroubles) },
    { what: "failed elsewhere", found: instances.flatMap(stageTroubles) },
    {
      what: "lost before",
      found: instances.flatMap(({ id, lost }) =>
        lost === undefined ? [] : [{ where: id, cause: lost, id: instanceId(id) }],
      ),
    },
    { what: "resumed", found: resumed.map((one) => attemptTrouble(one, resumedText(one))) },
  ];
  return kinds.filter(({ found }) => found.length > 0);
}

function attemptTrouble(attempt: Attempt, cause: string): Trouble {
  const { task, agent, seed } = attempt;
  const where = `${task}, ${agent}, seed ${seed}`;
  return { where, cause: cause === "" ? "cause unknown" : cause, id: attemptId(task, agent, seed) };
}

/** The first rule that decided it, as a person answered it where one did. */
function verdictCause(attempt: Attempt): string {
  const { verdict, scores } = attempt;
  if (verdict.kind === "missing") return verdict.cause;
  const wanted = verdict.kind === "undecided" ? "undecided" : "fail";
  for (const { rule, title, answer, evidence, severity } of verdict.rules) {
    const decided = decisionsOn(attempt, rule).findLast(({ counts }) => counts);
    if (severity !== "disqualify" || (decided?.verdict ?? answer) !== wanted) continue;
    return `${title.replace(/\.$/, "")}: ${decided ? `decided by a person: ${decisionText(decided)}` : evidence}`;
  }
  return Object.values(scores).find((score) => score.kind === "rejected")?.reason ?? "";
}

/** A rejected submission has no score either: its verdict says why. */
function scoreTroubles(attempt: Attempt): Trouble[] {
  const { verdict, scores } = attempt;
  if (verdict.kind === "missing") return [];
  return Object.entries(scores).flatMap(([name, score]) => {
    if (score.kind === "not-measured") return [attemptTrouble(attempt, `${name}: ${score.cause}`)];
    if (score.kind === "scored" || verdict.kind === "rejected") return [];
    return [attemptTrouble(attempt, `${name} rejected: ${score.reason}`)];
  });
}

/** Failures of these roles are told of their attempts. */
const rolesOfAttempts = ["attempt", "verdict", "score"];

function stageTroubles({ id, role = "", outcome }: PageData["instances"][number]): Trouble[] {
  if (outcome.kind !== "failed" && outcome.kind !== "cancelled") return [];
  return rolesOfAttempts.includes(role) ? [] : [{ where: id, cause: outcome.cause, id: instanceId(id) }];
}
