// What rules about failure ask of an attempt, gathered in one pass over its trajectory and bounded in size. Facts
// only; what they mean is for failure-rules.ts.
import type { Where } from "@mlrb/formats/attempt/iterations";
import { alsoEvaluates, type CommandKind, commandKind } from "./command-kind.ts";
import { printedValues } from "./printed-values.ts";
import type { TimedEvent } from "./timed-event.ts";
import { outOfMemory, whereOfError } from "./where-of-error.ts";

type At = { at: number };

export type AttemptFacts = {
  budgetMs: number | null;
  endMs: number;
  /** Of the last event. */
  lastIndex: number;
  ended: string;
  /** Of an agent's program. */
  exit: { how: string; code: number | null; over: string | null; at: number } | null;
  modelCalls: number;
  toolCalls: number;
  /** What the model said last, without a tool call after it. */
  lastWords: (At & { text: string }) | null;
  refusal: At | null;
  /** Calls in a row that made no sense, the longest such row, and where it stands. */
  malformed: { now: number; most: number; evidence: number[] };
  /** A model call that was given up, with no answer after it. */
  givenUp: (At & { whose: string; cause: string }) | null;
  sandboxLost: At | null;
  /** The same call with the same result, again and again. */
  repeats: { now: number; most: number; evidence: number[] };
  /** Failures of one command without a success of it since. */
  failing: Map<string, { evidence: number[]; where: Where }>;
  /** Programs that were running when it ended. */
  unanswered: Map<string, At & { kind: CommandKind }>;
  trained: At | null;
  evaluated: At | null;
  lastRun: (At & { failed: boolean }) | null;
  outOfMemory: At | null;
  loss: { first: number; last: number; count: number; at: number } | null;
  notFinite: At | null;
  secrets: number[];
  /** The stage of research of what it did last. */
  phase: Where;
  handedIn: (At & { name: string; digest: string })[];
  final: (At & { digest: string; files: number; torn: number; gone: string[] }) | null;
  /** The end of what an agent's own program printed. */
  said: string;
  /** Whether any output was cut short before it came here. */
  clipped: boolean;
};

const kept = 20;
const tracked = 200;
const seeksSecrets =
  /\bprintenv\b|\/proc\/\S*environ\b|^\s*env\s*$|\b\w+_API_KEY\b|\/etc\/shadow|\.ssh\/|\.aws\/|credentials|169\.254\.169\.254/;

export function attemptFacts(): { facts: AttemptFacts; take(seen: TimedEvent): void } {
  const facts: AttemptFacts = {
    budgetMs: null,
    endMs: 0,
    lastIndex: 0,
    ended: "",
    exit: null,
    modelCalls: 0,
    toolCalls: 0,
    lastWords: null,
    refusal: null,
    malformed: { now: 0, most: 0, evidence: [] },
    givenUp: null,
    sandboxLost: null,
    repeats: { now: 0, most: 0, evidence: [] },
    failing: new Map(),
    unanswered: new Map(),
    trained: null,
    evaluated: null,
    lastRun: null,
    outOfMemory: null,
    loss: null,
    notFinite: null,
    secrets: [],
    phase: "understand",
    handedIn: [],
    final: null,
    said: "",
    clipped: false,
  };
  const calls = new Map<string, Extract<TimedEvent, { kind: "tool-call" }>>();
  let lastCall = "";

  const printed = (text: string, at: number) => {
    if (outOfMemory.test(text)) facts.outOfMemory = { at };
    for (const { name, value } of printedValues(text)) {
      if (name !== "loss") continue;
      if (!Number.isFinite(value)) facts.notFinite = { at };
      else {
        facts.notFinite = null;
        facts.loss = {
          first: facts.loss?.first ?? value,
          last: value,
          count: (facts.loss?.count ?? 0) + 1,
          at,
        };
      }
    }
  };
  const result = (seen: Extract<TimedEvent, { kind: "tool-result" }>) => {
    const at = seen.index;
    const call = calls.get(seen.key);
    calls.delete(seen.key);
    facts.unanswered.delete(seen.key);
    if (seen.lost) facts.sandboxLost = { at };
    row(facts.malformed, seen.outcome === "refused", at);
    if (call === undefined) return;
    const same = `${call.name}\n${call.input}\n${seen.text}`;
    row(facts.repeats, same === lastCall, at);
    lastCall = same;
    if (!seen.executed) {
      if (/write|edit|create|replace|patch|insert/i.test(call.name)) facts.phase = "implement";
      if (/submit/i.test(call.name)) facts.phase = "submit";
      return;
    }
    const command = call.command ?? call.input;
    const kind = commandKind(command);
    facts.phase = phaseOf(kind) ?? facts.phase;
    facts.clipped ||= seen.clipped;
    if (seeksSecrets.test(command.slice(0, 4000)) && facts.secrets.length < kept)
      facts.secrets.push(call.index);
    printed(seen.text, at);
    if (seen.failed) {
      const found = facts.failing.get(command) ?? { evidence: [], where: "cannot-tell" as Where };
      if (found.evidence.length < kept) found.evidence.push(at);
      found.where = whereOfError(seen.text, kind) ?? phaseOf(kind) ?? "implement";
      if (facts.failing.size < tracked) facts.failing.set(command, found);
    } else facts.failing.delete(command);
    const measures = kind === "evaluate" || alsoEvaluates(command) || printsAMetric(seen.text);
    if (kind !== "train" && !measures) return;
    facts.lastRun = { at, failed: seen.failed };
    if (seen.failed) return;
    if (kind === "train") facts.trained = { at };
    if (kind === "train" && !outOfMemory.test(seen.text)) facts.outOfMemory = null;
    if (measures) facts.evaluated = { at };
  };

  const take = (seen: TimedEvent) => {
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
        break;
      case "output":
        facts.clipped ||= seen.clipped;
        facts.said = (facts.said + seen.text).slice(-8000);
        printed(seen.text, at);
        if (printsAMetric(seen.text)) facts.evaluated = { at };
        break;
      case "snapshot":
        if (seen.name === "final")
          facts.final = { at, digest: seen.digest, files: seen.files, torn: seen.torn, gone: seen.gone };
        else if (seen.files > 0 && facts.handedIn.length < tracked)
          facts.handedIn.push({ at, name: seen.name, digest: seen.digest });
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
        facts.toolCalls++;
        if (calls.size < 1000) calls.set(seen.key, seen);
        if (seen.command !== null && facts.unanswered.size < tracked)
          facts.unanswered.set(seen.key, { at, kind: commandKind(seen.command) });
        if (/plan|note|delegate|think|assign/i.test(seen.name) && facts.phase === "understand")
          facts.phase = "plan";
        break;
      case "tool-result":
        result(seen);
        break;
      case "end":
        facts.ended = seen.ended;
        break;
      case "exec":
      case "claim":
      case "other":
        break;
    }
  };
  return { facts, take };
}

/** The longest row of events for which something holds. */
function row(counted: { now: number; most: number; evidence: number[] }, holds: boolean, at: number): void {
  counted.now = holds ? counted.now + 1 : 0;
  if (counted.now <= counted.most) return;
  counted.most = counted.now;
  if (counted.now === 1) counted.evidence = [];
  if (counted.evidence.length < kept) counted.evidence.push(at);
}

function phaseOf(kind: CommandKind): Where | undefined {
  if (kind === "train" || kind === "evaluate" || kind === "data") return kind;
  return kind === "write" ? "implement" : undefined;
}

/** A value of a metric other than the training's own loss. */
function printsAMetric(text: string): boolean {
  return printedValues(text).some(
    ({ name, split }) => split !== "train" && (split !== null || name !== "loss"),
  );
}
