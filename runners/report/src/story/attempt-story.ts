// What a person wants to know of an attempt: what it was, what it used of its budget, what happened in which order,
// what failed and by whose fault, what came of it, and what cannot be told. One reading of the trajectory, in bounded
// memory; what is quiet is counted and not listed. Pure.

import { researchReader } from "@mlrb/core/iterations/attempt-iterations";
import { formatDuration } from "@mlrb/core/text/units";
import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { AttemptScores, AttemptSource, AttemptState } from "../exports/attempt-source.ts";
import { type BudgetPart, budgetParts } from "./budget-parts.ts";
import { eventWords, factsWords, resultWords, shown, toolWords } from "./event-words.ts";
import { Failures, type StoryFailure } from "./story-failures.ts";
import { type StoryLine, Timeline } from "./timeline.ts";

export type AttemptStory = {
  id: string;
  state: AttemptState;
  stage: string;
  pipeline: string;
  profile: string;
  startedAt: string;
  durationMs: number | null;
  executor: string;
  where: Record<string, string>;
  kind: string | null;
  models: string[];
  ended: string | null;
  budget: BudgetPart[];
  timeline: StoryLine[];
  failures: StoryFailure[];
  iterations: { wellFormed: number; malformed: number };
  /** What the rules make of it; null where nothing could be read. */
  research: Extract<IterationsFile, { kind: "found" }> | null;
  submission: { digest: string | null; files: number; bytes: number } | null;
  scores: AttemptScores | null;
  /** What cannot be told, and why. */
  missing: string[];
};

const modelsMax = 10;
const openMax = 1000;
/** A command that took longer, or this share of the budget, is told by itself. */
const notableMs = 10_000;
const notableShare = 0.01;

export function attemptStory(source: AttemptSource, { full = false }: { full?: boolean } = {}): AttemptStory {
  const { read: ledger } = source.ledger;
  const timeline = new Timeline(full);
  const failures = new Failures();
  const calls = new Map<string, LongText>();
  const models = new Set<string>();
  const missing: string[] = [];
  const iterations = { wellFormed: 0, malformed: 0 };
  const reader = researchReader();
  const budgetMs = ledger?.budget.wallMs ?? Number.POSITIVE_INFINITY;
  const notable = (ms: number) => ms >= notableMs || ms >= notableShare * budgetMs;
  let kind: string | null = null;
  let ended: string | null = ledger?.ended ?? null;
  let hasEnd = false;

  for (const line of source.lines()) {
    if (line.kind === "broken") {
      missing.push(`the rest of the trajectory: ${line.why}`);
      break;
    }
    if (line.kind === "other") {
      timeline.add(line, line.name, factsWords(line.fields));
      continue;
    }
    const { event, index, time, sinceStartMs } = line;
    reader.see(event, { index, time, sinceStartMs });
    failures.see(event);
    if (full) timeline.add(line, event.event, eventWords(event), markOf(event));
    switch (event.event) {
      case "start":
        kind = typeof event.kind === "string" ? event.kind : null;
        timeline.notable(line, "started", startWords(event));
        break;
      case "iteration":
        iterations[event.wellFormed ? "wellFormed" : "malformed"]++;
        timeline.notable(line, "iteration", eventWords(event), "strong");
        break;
      case "model-call":
        if (models.size < modelsMax) models.add(`${event.provider}/${event.answeredBy ?? event.model}`);
        if (event.finish === "refusal" || event.finish === "length")
          timeline.notable(line, "model", eventWords(event), "bad");
        else timeline.quiet("model calls");
        for (const { id, input } of event.toolCalls)
          if (calls.size < openMax) calls.set(`${event.by} ${id}`, input);
        break;
      case "model-try":
        timeline.notable(line, "try", eventWords(event), "bad");
        break;
      case "tool-call":
        if (calls.size < openMax) calls.set(`${event.by} ${event.id}`, event.input);
        break;
      case "tool-result": {
        const key = `${event.by} ${event.id}`;
        const words = toolWords(event.name, calls.get(key) ?? "");
        calls.delete(key);
        const bad =
          event.outcome !== "done" ||
          (event.exit !== null && (!("code" in event.exit) || event.exit.code !== 0));
        if (bad || (event.executed && notable(event.durationMs)))
          timeline.notable(
            line,
            event.name,
            `${words.slice(event.name.length + 1)} (${resultWords(event)})`,
            bad ? "bad" : undefined,
          );
        else timeline.quiet(event.executed ? "programs run by tools" : "other tool calls");
        break;
      }
      case "message":
        if (event.why === "notice" || event.why === "nudge" || event.why === "task")
          timeline.notable(line, event.why, `to ${event.by}: ${shown(event.text)}`, "faint");
        break;
      case "exec-end": {
        const words = eventWords(event);
        timeline.notable(line, "program ended", words, words === "exit 0" ? undefined : "bad");
        break;
      }
      case "output":
        timeline.quiet("pieces of output");
        break;
      case "end":
        hasEnd = true;
        if (ended === null && typeof event.ended === "string") ended = event.ended;
        timeline.notable(
          line,
          "ended",
          ended ?? eventWords(event),
          ended === "finished" || ended === "submitted" ? "strong" : "bad",
        );
        break;
      case "file-change":
        timeline.quiet("files written by tools");
        break;
      case "output-clipped":
      case "snapshot-dropped":
        break;
      default:
        timeline.notable(line, event.event, eventWords(event), markOf(event));
    }
  }
  if (source.ledger.read === null) missing.push(`the budget that it used: ${source.ledger.why}`);
  if (!hasEnd && source.state !== "running" && missing.length === 0)
    missing.push("its end: the trajectory has no end event");
  if (source.state === "running") missing.push("its end: the attempt is still running");
  if (source.state === "lost")
    missing.push("a measurement: its supervisor disappeared, so there is no record");
  if (source.scores === null && source.state === "recorded")
    missing.push("its scores: no report here covers this submission (`pnpm pipeline run` makes one)");
  if (ledger && ledger.ended === "agent-error")
    failures.add("agent-error", "its program failed", exitWords(ledger.exit));
  if (ledger && (ledger.ended === "gave-up" || ledger.ended === "silent"))
    failures.add("agent-error", ledger.ended, "its model did not submit");
  if (ledger && /-limit$/.test(ledger.ended))
    failures.add("agent-budget", ledger.ended, "the supervisor ended it");
  const research = reader.end();
  return {
    id: source.id,
    state: source.state,
    stage: source.slot.stage,
    pipeline: source.slot.pipeline,
    profile: source.slot.profile,
    startedAt: source.startedAt,
    durationMs: source.durationMs,
    executor: source.executor,
    where: source.where,
    kind,
    models: [...models],
    ended,
    budget: budgetParts(ledger),
    timeline: timeline.lines(),
    failures: failures.all(),
    iterations,
    research: research.kind === "found" ? research : null,
    // one digest for one submission: the ledger's own is of its files in another form, as no report has it
    submission:
      ledger && ledger.submission.files > 0
        ? { ...ledger.submission, digest: source.submission ?? null }
        : null,
    scores: source.scores,
    missing,
  };
}

function markOf(event: TrajectoryEvent): StoryLine["mark"] {
  if (event.event === "snapshot-skipped" || event.event === "model-try") return "bad";
  if (event.event === "iteration") return "strong";
  return event.event === "budget" || event.event === "wait" ? "faint" : undefined;
}

function startWords({ event: _, ...facts }: { event: "start"; [fact: string]: unknown }): string {
  const { kind, sandbox, deadline } = facts;
  return [
    typeof kind === "string" && `an agent of kind ${kind}`,
    typeof sandbox === "string" && `sandbox ${sandbox}`,
    typeof deadline === "string" && `deadline ${deadline}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function exitWords(exit: { code: number } | { signal: string } | null): string {
  if (exit === null) return "exit unknown";
  return "code" in exit ? `exit ${exit.code}` : `ended by ${exit.signal}`;
}

export function durationOrUnknown(ms: number | null): string {
  return ms === null ? "unknown so far" : formatDuration(ms);
}
