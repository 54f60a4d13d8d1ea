// Gathers the facts that the failure rules need, in one pass over a trajectory and in bounded memory. failure-rules.ts
// judges them.
import type { Where } from "@mlrb/formats/attempt/iterations";
import { unreachable } from "../ports/outcome.ts";
import { alsoEvaluates, type CommandKind, commandKind } from "./command-kind.ts";
import { errorStage, outOfMemory } from "./error-stage.ts";
import { printedValues } from "./printed-values.ts";
import type { TimedEvent, ToolCall, ToolResult } from "./timed-event.ts";

type At = { at: number };

/** Events in a row: the length of the current row and of the longest, and where the longest is. */
type Streak = { now: number; most: number; evidence: number[] };

/** What an attempt has shown so far; at first nothing. */
export class AttemptFacts {
  budgetMs: number | null = null;
  endMs = 0;
  lastIndex = 0;
  ended = "";
  /** How the agent's own program ended. */
  exit: { how: string; code: number | null; over: string | null; at: number } | null = null;
  modelCalls = 0;
  toolCalls = 0;
  /** The model's last text. */
  lastWords: (At & { text: string }) | null = null;
  refusal: At | null = null;
  /** Refused calls in a row. */
  malformed: Streak = { now: 0, most: 0, evidence: [] };
  /** A model call that was given up, with no answer after it. */
  givenUp: (At & { whose: string; cause: string }) | null = null;
  sandboxLost: At | null = null;
  /** The same call with the same result, in a row. */
  repeats: Streak = { now: 0, most: 0, evidence: [] };
  /** Failures of one command without a success of it since. */
  failing = new Map<string, { evidence: number[]; where: Where }>();
  /** Programs that were running when the attempt ended. */
  unanswered = new Map<string, At & { kind: CommandKind }>();
  /** Programs that the agent started and that ended; a program that is one agent counts once. */
  runs = { ended: 0, failed: 0, evaluations: 0, outOfMemory: 0 };
  /** Limits that it reached, each once: of its budget and of its sandbox. */
  limits = new Set<string>();
  trained: At | null = null;
  evaluated: At | null = null;
  lastRun: (At & { failed: boolean }) | null = null;
  outOfMemory: At | null = null;
  loss: { first: number; last: number; count: number; at: number } | null = null;
  notFinite: At | null = null;
  secrets: number[] = [];
  /** The stage of research of its last action. */
  phase: Where = "understand";
  submitted: (At & { name: string; digest: string })[] = [];
  final: (At & { digest: string; files: number; torn: number; gone: string[] }) | null = null;
  /** The end of the output of the agent's own program. */
  said = "";
  /** Some of the output was cut before it came here. */
  clipped = false;
}

/** Ends of an attempt at a limit of its budget. */
export const budgetEnds = /^(time|token|dollar|turn)-limit$/;
const evidenceMax = 20;
const trackedMax = 200;
const seeksSecrets =
  /\bprintenv\b|\/proc\/\S*environ\b|^\s*env\s*$|\b\w+_API_KEY\b|\/etc\/shadow|\.ssh\/|\.aws\/|credentials|169\.254\.169\.254/;

export class FactsReader {
  readonly facts = new AttemptFacts();
  #lastCall = "";

  take(seen: TimedEvent): void {
    const { facts } = this;
    const at = seen.index;
    facts.lastIndex = at;
    facts.endMs = Math.max(facts.endMs, seen.sinceStartMs);
    switch (seen.kind) {
      case "start":
        facts.budgetMs = seen.budgetMs;
        break;
      case "exec-end":
        facts.exit = { how: seen.how, code: seen.code, over: seen.over, at };
        if (seen.how === "lost") facts.sandboxLost = { at };
        else takeOwnProgram(facts, seen);
        break;
      case "output":
        facts.clipped ||= seen.clipped;
        facts.said = (facts.said + seen.text).slice(-8000);
        takePrinted(facts, seen.text, at);
        if (printsAMetric(seen.text)) facts.evaluated = { at };
        break;
      case "snapshot":
        if (seen.name === "final")
          facts.final = { at, digest: seen.digest, files: seen.files, torn: seen.torn, gone: seen.gone };
        else if (seen.files > 0 && facts.submitted.length < trackedMax)
          facts.submitted.push({ at, name: seen.name, digest: seen.digest });
        break;
      case "model-call":
        facts.modelCalls++;
        facts.givenUp = null;
        facts.lastWords = seen.text === "" ? null : { at, text: seen.text };
        if (seen.refusal) facts.refusal = { at };
        break;
      case "model-try":
        if (seen.last) facts.givenUp = { at, whose: seen.whose, cause: seen.cause };
        break;
      case "tool-call":
        takeCall(facts, seen);
        break;
      case "tool-result":
        this.#takeResult(seen);
        break;
      case "end":
        facts.ended = seen.ended;
        if (budgetEnds.test(seen.ended)) facts.limits.add(seen.ended.replace(/-limit$/, ""));
        break;
      case "exec":
      case "claim":
      case "other":
        break;
      default:
        unreachable(seen);
    }
  }

  #takeResult(seen: ToolResult): void {
    const { facts } = this;
    const { index: at, call } = seen;
    facts.unanswered.delete(seen.key);
    if (seen.lost) facts.sandboxLost = { at };
    extendStreak(facts.malformed, seen.refused, at);
    if (call === undefined) return;
    const same = `${call.name}\n${call.input}\n${seen.text}`;
    extendStreak(facts.repeats, same === this.#lastCall, at);
    this.#lastCall = same;
    if (seen.executed) takeRun(facts, call, seen);
    else if (/submit/i.test(call.name)) facts.phase = "submit";
    else if (/write|edit|create|replace|patch|insert/i.test(call.name)) facts.phase = "implement";
  }
}

/** The agent's own program, which the supervisor started, ended. */
function takeOwnProgram(
  facts: AttemptFacts,
  { how, code, over }: { how: string; code: number | null; over: string | null },
): void {
  const { runs } = facts;
  runs.ended++;
  if (how !== "time-limit" && !(how === "exited" && code === 0)) runs.failed++;
  if (over) facts.limits.add(over);
  if (facts.toolCalls > 0) return; // its runs were counted one by one
  if (over === "memory" || facts.outOfMemory) runs.outOfMemory++;
  if (facts.evaluated) runs.evaluations++;
}

function takeCall(facts: AttemptFacts, call: ToolCall): void {
  facts.toolCalls++;
  if (call.command !== null && facts.unanswered.size < trackedMax)
    facts.unanswered.set(call.key, { at: call.index, kind: commandKind(call.command) });
  if (/plan|note|delegate|think|assign/i.test(call.name) && facts.phase === "understand")
    facts.phase = "plan";
}

/** Takes the result of a call that ran a program. */
function takeRun(
  facts: AttemptFacts,
  call: ToolCall,
  { index: at, text, failed, clipped }: ToolResult,
): void {
  const command = call.command ?? call.input;
  const kind = commandKind(command);
  facts.phase = phaseOf(kind) ?? facts.phase;
  facts.clipped ||= clipped;
  if (seeksSecrets.test(command.slice(0, 4000)) && facts.secrets.length < evidenceMax)
    facts.secrets.push(call.index);
  takePrinted(facts, text, at);
  facts.runs.ended++;
  if (outOfMemory.test(text)) facts.runs.outOfMemory++;
  if (failed) {
    facts.runs.failed++;
    const found = facts.failing.get(command) ?? { evidence: [], where: "cannot-tell" as Where };
    if (found.evidence.length < evidenceMax) found.evidence.push(at);
    found.where = errorStage(text, kind) ?? phaseOf(kind) ?? "implement";
    if (facts.failing.size < trackedMax) facts.failing.set(command, found);
  } else facts.failing.delete(command);
  const measures = kind === "evaluate" || alsoEvaluates(command) || printsAMetric(text);
  if (kind !== "train" && !measures) return;
  if (measures && !failed) facts.runs.evaluations++;
  facts.lastRun = { at, failed };
  if (failed) return;
  if (kind === "train") facts.trained = { at };
  if (kind === "train" && !outOfMemory.test(text)) facts.outOfMemory = null;
  if (measures) facts.evaluated = { at };
}

function takePrinted(facts: AttemptFacts, text: string, at: number): void {
  if (outOfMemory.test(text)) facts.outOfMemory = { at };
  for (const { name, value } of printedValues(text)) {
    if (name !== "loss") continue;
    if (!Number.isFinite(value)) {
      facts.notFinite = { at };
      continue;
    }
    const { first, count } = facts.loss ?? { first: value, count: 0 };
    facts.notFinite = null;
    facts.loss = { first, last: value, count: count + 1, at };
  }
}

function extendStreak(streak: Streak, holds: boolean, at: number): void {
  streak.now = holds ? streak.now + 1 : 0;
  if (streak.now <= streak.most) return;
  streak.most = streak.now;
  if (streak.now === 1) streak.evidence = [];
  if (streak.evidence.length < evidenceMax) streak.evidence.push(at);
}

function phaseOf(kind: CommandKind): Where | undefined {
  if (kind === "train" || kind === "evaluate" || kind === "data") return kind;
  return kind === "write" ? "implement" : undefined;
}

/** Whether a text holds a value of a metric other than the training's own loss. */
function printsAMetric(text: string): boolean {
  return printedValues(text).some(
    ({ name, split }) => split !== "train" && (split !== null || name !== "loss"),
  );
}
