// What went wrong in a run, for its first screen: attempts without a result, broken and undecided rules, scores
// and stages that failed. Each has its first cause, never that a later stage was skipped.
import type { Attempt } from "@mlrb/formats/report/attempt";
import { attemptMarks } from "../read/attempt-marks.ts";
import { decisionsOn, decisionText } from "../read/decisions.ts";
import type { PageData } from "./page-data.ts";
import { attemptId, instanceId } from "./section-html.ts";

/** `id`: the element with the details. */
type Trouble = { where: string; cause: string; id: string };
export type TroubleKind = { one: string; many: string; found: Trouble[] };

/** Kinds without a case are left out. */
export function wentWrong({ report, instances }: PageData): TroubleKind[] {
  const { attempts } = report;
  const of = (kind: Attempt["verdict"]["kind"]) =>
    attempts
      .filter(({ verdict }) => verdict.kind === kind)
      .map((one) => attemptTrouble(one, verdictCause(one)));
  const lost = instances.flatMap(({ id, axes: { task, agent, seed }, lost }) =>
    lost === undefined ? [] : [{ where: `${task}, ${agent}, seed ${seed}`, cause: lost, id: instanceId(id) }],
  );
  const resumed = attempts.filter((one) => one.resumed !== undefined);
  return [
    { one: "attempt without a result", many: "attempts without a result", found: of("missing") },
    { one: "disqualified", many: "disqualified", found: of("disqualified") },
    { one: "rejected", many: "rejected", found: of("rejected") },
    { one: "undecided", many: "undecided", found: of("undecided") },
    { one: "score not measured", many: "scores not measured", found: attempts.flatMap(scoreTroubles) },
    { one: "other stage failed", many: "other stages failed", found: otherStages(instances) },
    { one: "earlier try was lost", many: "earlier tries were lost", found: lost },
    {
      ...{ one: "attempt was resumed", many: "attempts were resumed" },
      found: resumed.map((one) => attemptTrouble(one, markTexts(one))),
    },
  ].filter(({ found }) => found.length > 0);
}

function attemptTrouble(attempt: Attempt, cause: string): Trouble {
  const { task, agent, seed } = attempt;
  const where = `${task}, ${agent}, seed ${seed}`;
  return { where, cause: cause === "" ? "cause unknown" : cause, id: attemptId(task, agent, seed) };
}

function markTexts(attempt: Attempt): string {
  return attemptMarks.flatMap(({ text }) => text(attempt) || []).join("; ");
}

/** The first rule that decided it, as a person answered it where one did. */
function verdictCause(attempt: Attempt): string {
  const { verdict, scores } = attempt;
  if (verdict.kind === "missing") return verdict.cause;
  const wanted = verdict.kind === "undecided" ? "undecided" : "fail";
  for (const { rule, title, answer, evidence, severity } of verdict.rules) {
    const decided = decisionsOn(attempt, rule).findLast(({ counts }) => counts);
    if (severity !== "disqualify" || (decided?.verdict ?? answer) !== wanted) continue;
    return `${title}: ${decided ? `decided by a person: ${decisionText(decided)}` : evidence}`;
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

/** Roles whose failures are told of their attempts. */
const rolesOfAttempts = ["attempt", "verdict", "score"];

function otherStages(instances: PageData["instances"]): Trouble[] {
  return instances.flatMap(({ id, role = "", outcome }) =>
    (outcome.kind === "failed" || outcome.kind === "cancelled") && !rolesOfAttempts.includes(role)
      ? [{ where: id, cause: outcome.cause, id: instanceId(id) }]
      : [],
  );
}
