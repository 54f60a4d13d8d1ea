// An attempt as a person reads it: what it was, its budget, a timeline, failures with their owner, its result, and
// what is missing. One pass over the trajectory in bounded memory. Pure.

import { ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import { formatDuration } from "@mlrb/core/text/units";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { type AttemptSource, type TrajectoryLine, unseenFailure } from "../exports/attempt-source.ts";
import { type TrajectorySummary, TrajectoryWalk } from "../exports/trajectory-walk.ts";
import { replayText } from "../read/attempt-marks.ts";
import { budgetParts } from "./budget-parts.ts";
import { eventWords, factsWords } from "./event-words.ts";
import { Failures } from "./story-failures.ts";
import { Timeline } from "./timeline.ts";
import { markOf, timelineEntry } from "./timeline-entry.ts";

export type AttemptStory = ReturnType<typeof attemptStory>;

const modelsMax = 10;

export function attemptStory(source: AttemptSource, { full = false }: { full?: boolean } = {}) {
  const { id, state, slot, startedAt, durationMs, executor, where, scores } = source;
  const { read: ledger } = source.ledger;
  const { summary, ...told } = toldTrajectory(source.lines(), ledger, full);
  return {
    ...{ id, state, slot, startedAt, durationMs, executor, where, scores },
    ...told,
    // the record's digest, which the report has too; the ledger's own is of the files in another form
    submission:
      ledger && ledger.submission.files > 0
        ? { ...ledger.submission, digest: source.submission ?? null }
        : null,
    missing: missingParts(source, summary),
  };
}

/** What a trajectory and its ledger tell by themselves. */
export function toldTrajectory(lines: Iterable<TrajectoryLine>, ledger: Ledger | null, full = false) {
  const walk = new TrajectoryWalk();
  const timeline = new Timeline(full);
  const failures = new Failures();
  const models = new Set<string>();
  const iterations = { wellFormed: 0, malformed: 0 };
  const reader = new ResearchReader();
  const budgetMs = ledger?.budget.wallMs ?? Number.POSITIVE_INFINITY;
  const ended = () => ledger?.ended ?? textOf(walk.summary.end?.ended);

  for (const { line, call } of walk.steps(lines)) {
    if (line.kind === "other") timeline.add(line, line.name, factsWords(line.fields));
    if (line.kind !== "event") continue;
    const { event } = line;
    reader.see(event, line);
    failures.see(event);
    if (event.event === "iteration") iterations[event.wellFormed ? "wellFormed" : "malformed"]++;
    if (event.event === "model-call" && models.size < modelsMax)
      models.add(`${event.provider}/${event.answeredBy ?? event.model}`);
    if (full) timeline.add(line, event.event, eventWords(event), markOf(event));
    else timeline.show(line, timelineEntry(event, { input: call?.input ?? "", ended: ended(), budgetMs }));
  }
  if (ledger) addEnd(failures, ledger);
  const research = reader.end();
  return {
    kind: textOf(walk.summary.start.kind),
    models: [...models, ...(ledger?.replay ? [replayText(ledger)] : [])],
    ended: ended(),
    budget: budgetParts(ledger),
    members: ledger?.members ?? [],
    timeline: timeline.lines(),
    failures: failures.all(),
    iterations,
    /** Found by rules; null where nothing could be read. */
    research: research.kind === "found" ? research : null,
    summary: walk.summary,
  };
}

function textOf(fact: unknown): string | null {
  return typeof fact === "string" ? fact : null;
}

/** What the story lacks, and why. `noLedger`: why the ledger cannot be read, if so. */
export function unreadParts(broken: TrajectorySummary["broken"], noLedger: string | undefined): string[] {
  return [
    ...(broken === null ? [] : [`the rest of the trajectory: ${broken}`]),
    ...(noLedger === undefined ? [] : [`the budget that it used: ${noLedger}`]),
  ];
}

function missingParts(
  { state, failure, scores, ledger }: AttemptSource,
  { broken, end }: TrajectorySummary,
): string[] {
  const missing = unreadParts(broken, ledger.read === null ? ledger.why : undefined);
  if (end === null && state !== "running" && missing.length === 0)
    missing.push("its end: the trajectory has no end event");
  if (state === "running") missing.push("its end: the attempt is still running");
  if (state === "lost") missing.push(`a measurement: ${failure ?? unseenFailure}`);
  if (scores === null && state === "recorded")
    missing.push("its scores: no report here covers this submission (`pnpm pipeline run` makes one)");
  return missing;
}

/** Failures that only the ledger shows. */
function addEnd(failures: Failures, { ended, exit }: Ledger): void {
  if (ended === "agent-error") failures.add("agent-error", "its program failed", exitWords(exit));
  if (ended === "gave-up" || ended === "silent")
    failures.add("agent-error", ended, "its model did not submit");
  if (/-limit$/.test(ended)) failures.add("agent-budget", ended, "the supervisor ended it");
}

function exitWords(exit: { code: number } | { signal: string } | null): string {
  if (exit === null) return "exit unknown";
  return "code" in exit ? `exit ${exit.code}` : `ended by ${exit.signal}`;
}

export function durationOrUnknown(ms: number | null): string {
  return ms === null ? "unknown so far" : formatDuration(ms);
}
