// `pipeline attempts adjudicate`: adds a person's decision on a rule of a recorded attempt, or on a question that
// marks attempts. The record, its verdict and earlier decisions stay as they are.

import { readManifest } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { nameMax, reasonMax } from "@mlrb/formats/attempt/adjudication";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { noLookAhead } from "@mlrb/formats/judged/verdict";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { addAdjudication } from "@mlrb/local/records/adjudications";
import { isQuestionRule } from "@mlrb/report/judged/decided-marks";
import { decisionText } from "@mlrb/report/read/decisions";
import { attemptPlace, findAttempt } from "../request/find-attempt.ts";
import { refuse, refused, refuseWords } from "../request/refuse.ts";
import { typedProgram } from "../request/typed-program.ts";
import { oneLine, printJson, printLine } from "../show/print.ts";
import { attemptsToAdjudicate, type JudgedOptions, markingQuestions } from "./attempts-to-adjudicate.ts";

type Typed = { rule: string; verdict: string; by: string; reason: string };
export type AdjudicateOptions = Omit<JudgedOptions, "judged"> & Partial<Typed & { judged: string }>;

const verdicts = ["pass", "fail"] as const;

/** `what` is an attempt; undefined, and only then, for a list. */
export function attemptsAdjudicate(repository: string, what = "", options: AdjudicateOptions): number {
  const { judged, rule = "", verdict: answer = "", by: who = "", reason: why = "" } = options;
  if (judged !== undefined && what === "") return attemptsToAdjudicate(repository, { ...options, judged });
  if (judged !== undefined || [what, rule, answer, who, why].includes(""))
    return refused("incomplete: give an attempt, --rule, --verdict, --by and --reason", "or --judged alone");
  const place = attemptPlace(repository, options.root);
  const found = findAttempt(what, place);
  if (typeof found === "string") return refuseWords(found);
  if (found.kind !== "record")
    return refuseWords(
      `not-recorded: ${oneLine(what)} is ${found.kind}, and people decide on records\n  help: \`${typedProgram()} attempts list\` shows which attempts are recorded`,
    );
  const verdict = verdicts.find((one) => one === answer);
  const [by, reason] = [oneLine(who).trim(), oneLine(why).trim()];
  const problems = [
    ...ruleProblems(repository, found.record, rule),
    ...(verdict === undefined ? [verdictProblem(answer)] : []),
    ...lengthProblems("--by", by, nameMax),
    ...lengthProblems("--reason", reason, reasonMax),
  ];
  if (problems.length > 0 || verdict === undefined) return refuse(problems, options.json);
  const decided = { rule, verdict, by, reason } as const;
  const decidedAt = new Date().toISOString();
  addAdjudication(place.state.attempts, { decidedAt, record: found.digest, ...decided });
  if (options.json) {
    printJson({ event: "attempt-adjudicate", record: found.digest, decidedAt, ...decided });
    return 0;
  }
  place.records.refresh();
  const all = place.records.decisionsOn(found.digest).filter((one) => one.rule === rule);
  const { pipeline, profile, stage } = found.record.slot;
  const lines = [
    `${found.digest.slice(0, 12)}  ${stage}`,
    ...all.map((one) => `  ${one.rule}: ${decisionText(one)}`),
    `the tables use it after \`${typedProgram()} run ${pipeline} --profile ${profile}\`; no attempt and no score runs again`,
  ];
  for (const line of lines) printLine(line);
  return 0;
}

function ruleProblems(repository: string, { axes }: AttemptRecord, rule: string): Diagnostic[] {
  if (isQuestionRule(rule)) {
    const { rules, problems } = markingQuestions(repository);
    if (rules.includes(rule)) return [];
    const message = `no rubric has a question "${rule.slice(0, nameMax)}" that marks attempts`;
    return [...problems, { code: "unknown-rule", message, help: didYouMean(rule, rules) }];
  }
  const task = String(axes.task ?? "");
  const manifest = task === "" ? undefined : readManifest("task", task, sourceFiles(repository));
  if (manifest === undefined) {
    const message =
      task === "" ? "the attempt is at no task" : `there is no task "${task}" here, so no rule of it`;
    const help = `decide in a repository that has the task of the attempt; \`${typedProgram()} list tasks\` shows them`;
    return [{ code: "unknown-task", message, help }];
  }
  if (Array.isArray(manifest)) return manifest;
  // the causality stage adds a rule to those of the task
  const names = [...new Set([...manifest.value.rules.map(({ name }) => name), noLookAhead])];
  if (names.includes(rule)) return [];
  const message = `the task ${task} has no rule "${rule.slice(0, nameMax)}"`;
  return [{ code: "unknown-rule", message, help: didYouMean(rule, names) }];
}

function verdictProblem(verdict: string): Diagnostic {
  const message = `a person decides pass or fail, not "${verdict.slice(0, nameMax)}"`;
  return { code: "unknown-verdict", message, help: didYouMean(verdict, verdicts) };
}

function lengthProblems(option: string, text: string, max: number): Diagnostic[] {
  if (text.length <= max) return [];
  const message = `${option} has ${text.length} characters; at most ${max} fit the tables`;
  const help = "shorten it; a longer explanation can be in a file that the reason names";
  return [{ code: "long-text", message, help }];
}
