// Finds the iterations of an attempt in its trajectory: the agent's own lines, and where it wrote none, what it did
// between one change of files and the next. One pass, bounded memory.
import type { IterationRecord } from "@mlrb/formats/attempt/iterations";
import { agentLine, type Claim } from "./agent-line.ts";
import { alsoEvaluates, commandKind } from "./command-kind.ts";
import {
  addPrinted,
  addRun,
  addSpent,
  type Episode,
  extend,
  nothingSpent,
  openEpisode,
  ran,
  recordOf,
} from "./episode.ts";
import { printedValues } from "./printed-values.ts";
import type { TimedEvent } from "./timed-event.ts";

const iterationsMax = 2000;
const pendingMax = 1000;
/** A tool of ours that appends a line; the line itself is read a little later, perhaps after the next experiment. */
const claimTool = "iteration";
/** Tools that write files themselves, by name; shells are told by their commands. */
const editTool = /write|edit|create|replace|patch|insert/i;

export type IterationFinder = {
  take(seen: TimedEvent): void;
  /** Ends it. */
  found(): { iterations: IterationRecord[]; more: number; malformedLines: number };
};

export function iterationFinder(): IterationFinder {
  const records: IterationRecord[] = [];
  const ids = new Set<string>();
  /** Of agents whose tools are not seen: what their snapshots tell, unless they wrote lines. */
  const bySnapshot: Episode[] = [];
  /** Ids of claims that came by the tool, whose lines are still to be read. */
  const told = new Map<string, number>();
  const pending = new Map<string, Extract<TimedEvent, { kind: "tool-call" }>>();
  let more = 0;
  let malformedLines = 0;
  let running = false;
  let toolsSeen = false;
  let digest = "";
  let open = openEpisode(0, 0);
  /** Belongs to what the model is about to do, which may open another episode. */
  let spent = nothingSpent();
  let sinceSnapshot = openEpisode(0, 0);
  /** Ended, and still open to a claim or a snapshot that comes after its end. */
  let last: { episode: Episode; claim: Claim | undefined } | undefined;

  const settle = () => {
    if (last === undefined) return;
    const { episode, claim } = last;
    last = undefined;
    const executed = toolsSeen ? ran(episode) : running;
    if (claim === undefined && !(executed && episode.changed)) return; // a rule lists only what counts
    if (records.length >= iterationsMax) {
      more++;
      return;
    }
    const id = freshId(claim?.id ?? `rule-${records.length + 1}`);
    // only what came before: no cycle can be told that way
    const parent =
      claim?.parent != null && ids.has(claim.parent) && claim.parent !== id ? claim.parent : null;
    ids.add(id);
    records.push(recordOf(episode, claim, { id, parent, executed }));
  };
  const freshId = (id: string) => {
    if (!ids.has(id)) return id;
    for (let again = records.length + 1; ; again++) if (!ids.has(`${id}~${again}`)) return `${id}~${again}`;
  };
  /** `open` goes on to an event of what the model did. */
  const proceed = (seen: TimedEvent) => {
    addSpent(open.spent, spent);
    spent = nothingSpent();
    extend(open, seen);
  };
  const close = (claim?: Claim) => {
    settle();
    last = { episode: open, claim };
    open = openEpisode(open.to + 1, open.endMs);
  };
  const change = () => {
    if (ran(open)) close();
    open.changed = true;
  };

  const takeResult = (seen: Extract<TimedEvent, { kind: "tool-result" }>) => {
    const call = pending.get(seen.key);
    pending.delete(seen.key);
    if (call === undefined) return;
    if (!seen.executed) {
      const claim = call.name === claimTool && !seen.failed ? agentLine(call.input) : undefined;
      if (claim && told.size < iterationsMax) {
        told.set(claim.id, (told.get(claim.id) ?? 0) + 1);
        takeClaim(claim, seen);
      } else if (editTool.test(call.name) && !seen.failed) {
        change();
        proceed(seen);
      }
      return;
    }
    const command = call.command ?? call.input;
    const kind = commandKind(command);
    const isRun =
      kind === "train" || kind === "evaluate" || (kind === "other" && printedValues(seen.text).length > 0);
    if (kind === "write" && !seen.failed) change();
    if (isRun && isAnotherExperiment(open, command, kind)) close();
    if (open.from > call.index) open.from = call.index;
    proceed(seen);
    if (!isRun) return;
    addRun(
      open,
      { command, kind: kind === "other" ? "evaluate" : kind, failed: seen.failed, at: seen.index },
      seen.text,
    );
    if (kind === "train" && alsoEvaluates(command))
      addRun(open, { command, kind: "evaluate", failed: seen.failed, at: seen.index }, seen.text);
    addPrinted(open, seen.text, seen.clipped);
  };

  const takeLine = (seen: Extract<TimedEvent, { kind: "claim" }>) => {
    const claim = agentLine(seen.line);
    if (claim === undefined) malformedLines++;
    else if (told.get(claim.id)) told.set(claim.id, told.get(claim.id)! - 1);
    else takeClaim(claim, seen);
  };
  const takeClaim = (claim: Claim, seen: TimedEvent) => {
    if (toolsSeen && !ran(open) && !open.changed && last && last.claim === undefined && ran(last.episode)) {
      last.claim = claim; // it tells of what has just been ended by a rule
      return;
    }
    proceed(seen);
    close(claim);
  };

  const takeSnapshot = (seen: Extract<TimedEvent, { kind: "snapshot" }>) => {
    if (seen.digest === digest || seen.files === 0) return;
    digest = seen.digest;
    sinceSnapshot.changed = true;
    extend(sinceSnapshot, seen);
    if (running && !toolsSeen && bySnapshot.length < iterationsMax) bySnapshot.push(sinceSnapshot);
    sinceSnapshot = openEpisode(seen.index + 1, seen.sinceStartMs);
    const proves = open.runs.length === 0 && last && !last.episode.changed ? last.episode : open;
    proves.changed = true;
    extend(proves, seen);
  };

  return {
    take(seen) {
      switch (seen.kind) {
        case "exec":
          running = true;
          break;
        case "output":
          addPrinted(open, seen.text, seen.clipped);
          addPrinted(sinceSnapshot, seen.text, seen.clipped);
          break;
        case "model-call":
          addSpent(spent, { tokens: seen.tokens, dollars: seen.dollars, unpriced: seen.dollars === null });
          break;
        case "tool-call":
          toolsSeen = true;
          if (pending.size < pendingMax) pending.set(seen.key, seen);
          break;
        case "tool-result":
          takeResult(seen);
          break;
        case "claim":
          takeLine(seen);
          break;
        case "snapshot":
          takeSnapshot(seen);
          break;
      }
    },
    found() {
      if (toolsSeen && (ran(open) || open.runs.length > 0)) close();
      settle();
      if (records.length === 0 && !toolsSeen)
        for (const [at, episode] of bySnapshot.entries())
          records.push(recordOf(episode, undefined, { id: `rule-${at + 1}`, parent: null, executed: true }));
      return { iterations: records, more, malformedLines };
    },
  };
}

/** Training again with other arguments is one, although no file of the agent's own changed. */
function isAnotherExperiment(open: Episode, command: string, kind: string): boolean {
  if (kind !== "train") return false;
  return open.runs.some((run) => run.kind === "train" && !run.failed && run.command !== command);
}
