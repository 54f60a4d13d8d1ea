// From the manifest of everything planned to what is known of each attempt, score and anchor. A member
// without a readable artifact stays in the report as missing, with its cause. The stages are found by their roles,
// and their members told apart by the axes task, agent, seed, scorer and moment; of the roles `answers`,
// `moment-answers` and `anchor-answers`, whose texts scorers read, only what went wrong is told.

import type { RuleVerdict } from "@mlrb/formats/judged/verdict";
import type { Reading } from "@mlrb/formats/read-format";
import type { Coverage, Metric } from "@mlrb/formats/report";
import type {
  Attempt,
  AttemptMoment,
  AttemptScore,
  AttemptVerdict,
  Seed,
} from "@mlrb/formats/report/attempt";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { attemptMoments } from "./attempt-moments.ts";
import { attemptResearch } from "./attempt-research.ts";
import { bySeed, byText } from "./order.ts";
import {
  type AnchorRow,
  parseAnchors,
  parseKinship,
  parseMoment,
  parseScore,
  parseVerdict,
  type Verdict,
} from "./parse-artifacts.ts";
import { parseResearch } from "./parse-research.ts";
import { plainText } from "./plain-text.ts";

/** The text of an artifact, or why there is none; the words hold no path. */
export type ReadText = (artifact: { path: string; kind: "file" | "dir" }) => Reading<string>;

export type Evidence = {
  tasks: { name: string; scorers: string[] }[];
  agents: string[];
  attempts: Attempt[];
  anchors: (task: string, scorer: string) => Reading<AnchorRow[]>;
  /** The text of an attempt's samples file; read when asked for, since they are large. */
  samples: (attempt: Attempt, scorer: string) => Reading<string>;
  gaps: Coverage["gaps"];
};

/** The axes of each role. */
const axesOf = {
  attempt: ["task", "agent", "seed"],
  verdict: ["task", "agent", "seed"],
  iterations: ["task", "agent", "seed"],
  answers: ["task", "agent", "seed"],
  score: ["task", "agent", "seed", "scorer"],
  "anchor-answers": ["task"],
  anchors: ["task", "scorer"],
  kinship: ["task"],
  moment: ["task", "agent", "seed", "moment"],
  "moment-answers": ["task", "agent", "seed", "moment"],
  "moment-score": ["task", "agent", "seed", "moment", "scorer"],
} as const;

type Role = keyof typeof axesOf;

/** Reads all but the samples. Throws when the manifest has no place for a member: that is the pipeline's mistake. */
export function readEvidence(
  collected: Collected,
  metric: (scorer: string) => Metric,
  read: ReadText,
): Evidence {
  const members = new Map<string, Member>();
  const tasks = new Map<string, Set<string>>();
  const slots = new Map<string, { task: string; agent: string; seed: Seed }>();
  const planned = new Map<string, Set<string>>(); // moments, by task
  const gaps: Coverage["gaps"] = [];
  if (collected.members.length > 0 && !collected.members.some(({ role }) => isRole(role)))
    throw new Error(
      `no collected stage has a role that a report uses: declare one at each stage: ${Object.keys(axesOf).join(", ")}`,
    );
  for (const member of collected.members) {
    const { role } = member;
    if (!isRole(role)) continue;
    const key = place(member, role);
    if (members.has(key))
      throw new Error(`${member.stage}: two collected stages have the same place in the report`);
    members.set(key, member);
    const { task, agent, seed, scorer, moment } = member.axes;
    if (moment !== undefined)
      planned.set(String(task), (planned.get(String(task)) ?? new Set()).add(String(moment)));
    const scorers = tasks.get(String(task)) ?? new Set();
    tasks.set(String(task), scorers);
    if (scorer !== undefined) scorers.add(String(scorer));
    if (agent !== undefined && seed !== undefined) {
      slots.set(placeKey([task, agent, seed]), { task: String(task), agent: String(agent), seed });
    }
    if (member.outcome !== "succeeded") {
      gaps.push({ stage: plainText(member.stage), outcome: member.outcome, cause: plainText(member.cause) });
    }
  }

  const find = (role: Role, ...axes: Seed[]) => members.get(placeKey([role, ...axes]));
  const textOf = (member: Member | undefined, artifact: string): Reading<string> => {
    if (!member) return { kind: "unreadable", cause: "not planned" };
    if (member.outcome !== "succeeded") return { kind: "unreadable", cause: endOf(member) };
    const found = Object.hasOwn(member.artifacts, artifact) ? member.artifacts[artifact] : undefined;
    if (!found) return { kind: "unreadable", cause: "the stage wrote none" };
    const { path, kind } = found;
    return path === undefined
      ? { kind: "unreadable", cause: "only its digest was collected" }
      : read({ path, kind });
  };
  /** `parse` on an artifact's text; what cannot be read is a gap, under the name `what`. */
  const readAs = <T>(
    member: Member | undefined,
    artifact: string,
    what: string,
    parse: (text: string) => Reading<T>,
  ): Reading<T> => {
    const text = textOf(member, artifact);
    if (member?.outcome !== "succeeded") return text as Reading<T>;
    const found = text.kind === "ok" ? parse(text.value) : text;
    if (found.kind === "ok") return found;
    const cause = `unreadable ${what} (${found.cause})`;
    gaps.push({ stage: plainText(member.stage), outcome: "unreadable", cause });
    return { kind: "unreadable", cause };
  };

  const kin = new Map(
    [...tasks.keys()].flatMap((task) => {
      const member = find("kinship", task);
      const found = member && readAs(member, "kinship", "kinship", parseKinship);
      return found?.kind === "ok" ? [[task, found.value] as const] : [];
    }),
  );
  const verdictOf = (task: string, agent: string, seed: Seed): AttemptVerdict => {
    const attempt = find("attempt", task, agent, seed);
    if (attempt && attempt.outcome !== "succeeded") return { kind: "missing", cause: endOf(attempt) };
    const verdict = readAs(find("verdict", task, agent, seed), "verdict", "verdict", parseVerdict);
    if (verdict.kind !== "ok") return { kind: "missing", cause: verdict.cause };
    const further = kin.get(task)?.find((each) => each.agent === agent && each.seed === seed)?.rules ?? [];
    return joined(verdict.value, further);
  };
  const scoreOf = (task: string, agent: string, seed: Seed, scorer: string): AttemptScore => {
    const attempt = find("attempt", task, agent, seed);
    if (attempt && attempt.outcome !== "succeeded") return { kind: "not-measured", cause: endOf(attempt) };
    const member = find("score", task, agent, seed, scorer);
    const score = readAs(member, "score", "score", (text) => parseScore(text, metric(scorer)));
    return score.kind === "ok" ? score.value : { kind: "not-measured", cause: score.cause };
  };

  const momentsOf = (attempt: Omit<Attempt, "moments">): AttemptMoment[] => {
    const { task, agent, seed } = attempt;
    const at = [...(planned.get(task) ?? [])].map((moment) => {
      const member = find("moment", task, agent, seed, moment);
      return {
        moment,
        submission: member?.artifacts.submission?.digest ?? null,
        stood: readAs(member, "moment", "moment", parseMoment),
        scoreOf: (scorer: string) =>
          readAs(find("moment-score", task, agent, seed, moment, scorer), "score", "score", (text) =>
            parseScore(text, metric(scorer)),
          ),
      };
    });
    return attemptMoments(attempt, at);
  };

  const taskList = [...tasks]
    .map(([name, scorers]) => ({ name, scorers: [...scorers].sort(byText) }))
    .sort((a, b) => byText(a.name, b.name));
  const attempts = [...slots.values()]
    .sort((a, b) => byText(a.task, b.task) || byText(a.agent, b.agent) || bySeed(a.seed, b.seed))
    .map(({ task, agent, seed }): Attempt => {
      const scorers = taskList.find((each) => each.name === task)!.scorers;
      const submission = find("attempt", task, agent, seed)?.artifacts.submission?.digest;
      const scores = Object.fromEntries(
        scorers.map((scorer) => [scorer, scoreOf(task, agent, seed, scorer)]),
      );
      const iterations = find("iterations", task, agent, seed);
      const research = iterations && readAs(iterations, "iterations", "iterations", parseResearch);
      const attempt = {
        task,
        agent,
        seed,
        verdict: verdictOf(task, agent, seed),
        submission: submission ?? null,
        note: plainText(find("attempt", task, agent, seed)?.note ?? ""),
        scores,
        research: attemptResearch(research, { scores, direction: (scorer) => metric(scorer).direction }),
      };
      return { ...attempt, moments: momentsOf(attempt) };
    });
  const anchors = new Map(
    taskList.flatMap(({ name, scorers }) =>
      scorers.map((scorer) => {
        const member = find("anchors", name, scorer);
        return [
          placeKey([name, scorer]),
          readAs(member, "rows", "anchors", (text) => parseAnchors(text, scorer)),
        ];
      }),
    ),
  );
  return {
    tasks: taskList,
    agents: [...new Set(attempts.map((attempt) => attempt.agent))].sort(byText),
    attempts,
    anchors: (task, scorer) => anchors.get(placeKey([task, scorer]))!,
    samples: ({ task, agent, seed }, scorer) => textOf(find("score", task, agent, seed, scorer), "samples"),
    gaps: gaps.sort((a, b) => byText(a.stage, b.stage) || byText(a.cause, b.cause)),
  };
}

/** A verdict with further rules, which may strike it. */
function joined(verdict: Verdict, further: RuleVerdict[]): Verdict {
  const struck = further.some(({ answer, severity }) => answer === "fail" && severity === "strike");
  const kind = verdict.kind === "pass" && struck ? "struck" : verdict.kind;
  return { ...verdict, kind, rules: [...verdict.rules, ...further] };
}

/** Numbers and texts stay apart: seed 1 and seed "1" are two seeds. */
function placeKey(parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

function isRole(role: string | undefined): role is Role {
  return role !== undefined && Object.hasOwn(axesOf, role);
}

function place(member: Member, role: Role): string {
  const axes = axesOf[role].map((axis) => {
    const value = member.axes[axis];
    if (value === undefined) {
      throw new Error(`${member.stage}: a report needs the axis ${axis} of the stage ${member.name}`);
    }
    return axis === "seed" ? value : String(value);
  });
  return placeKey([role, ...axes]);
}

function endOf(member: Member): string {
  const end = `${member.name} ${member.outcome === "not-run" ? "was not run" : member.outcome}`;
  return plainText(member.cause ? `${end}: ${member.cause}` : end);
}
