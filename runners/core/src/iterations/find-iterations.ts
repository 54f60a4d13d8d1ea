// Finds the iterations of an attempt in its trajectory: from the agent's own lines, else by rule from what the agent
// did between two changes of its files. One pass, bounded memory.
import type { IterationRecord } from "@mlrb/formats/attempt/iterations";
import { unreachable } from "../ports/outcome.ts";
import { agentLine, type Claim } from "./agent-line.ts";
import { alsoEvaluates, commandKind } from "./command-kind.ts";
import { addPrinted, addRun, addSpent, Episode, extend, nothingSpent, ran, recordOf } from "./episode.ts";
import { printedValues } from "./printed-values.ts";
import type { TimedEvent, ToolResult } from "./timed-event.ts";

const iterationsMax = 2000;
/** Our tool that appends a line. The line itself is read a little later, perhaps after the next experiment. */
const claimTool = "iteration";
/** Tools that write files themselves, by name. Shells are judged by their commands. */
const editTool = /write|edit|create|replace|patch|insert/i;

export class IterationFinder {
  readonly #records: IterationRecord[] = [];
  readonly #ids = new Set<string>();
  /** Used where no tool call is seen and the agent writes no lines. */
  readonly #bySnapshot: Episode[] = [];
  /** Ids of claims that came by the tool, with how many of their lines are still to be read. */
  readonly #claimedByTool = new Map<string, number>();
  #more = 0;
  #malformedLines = 0;
  #running = false;
  #toolsSeen = false;
  #digest = "";
  #open = new Episode(0, 0);
  /** Belongs to the next action of the model, which may open another episode. */
  #spent = nothingSpent();
  #sinceSnapshot = new Episode(0, 0);
  /** Ended, and still open to a claim or a snapshot that comes after its end. */
  #last: { episode: Episode; claim: Claim | undefined } | undefined;

  take(seen: TimedEvent): void {
    switch (seen.kind) {
      case "exec":
        this.#running = true;
        break;
      case "output":
        addPrinted(this.#open, seen.text, seen.clipped);
        addPrinted(this.#sinceSnapshot, seen.text, seen.clipped);
        break;
      case "model-call":
        addSpent(this.#spent, { ...seen, unpriced: seen.dollars === null });
        break;
      case "tool-call":
        this.#toolsSeen = true;
        break;
      case "tool-result":
        if (seen.executed) this.#takeRun(seen);
        else this.#takeOwnTool(seen);
        break;
      case "claim":
        this.#takeLine(seen);
        break;
      case "snapshot":
        this.#takeSnapshot(seen);
        break;
      case "start":
      case "exec-end":
      case "model-try":
      case "end":
      case "other":
        break;
      default:
        unreachable(seen);
    }
  }

  /** Call once, after the last event. */
  end(): { iterations: IterationRecord[]; more: number; malformedLines: number } {
    if (this.#toolsSeen && this.#open.runs.length > 0) this.#close();
    this.#settle();
    if (this.#records.length === 0 && !this.#toolsSeen)
      for (const [at, episode] of this.#bySnapshot.entries())
        this.#records.push(
          recordOf(episode, undefined, { id: `rule-${at + 1}`, parent: null, executed: true }),
        );
    return { iterations: this.#records, more: this.#more, malformedLines: this.#malformedLines };
  }

  #takeRun(seen: ToolResult): void {
    const { call, text, failed, index: at } = seen;
    if (call === undefined) return;
    const command = call.command ?? call.input;
    const kind = commandKind(command);
    const isRun =
      kind === "train" || kind === "evaluate" || (kind === "other" && printedValues(text).length > 0);
    if (kind === "write" && !failed) this.#change();
    if (isRun && isAnotherExperiment(this.#open, command, kind)) this.#close();
    if (this.#open.from > call.index) this.#open.from = call.index;
    this.#proceed(seen);
    if (!isRun) return;
    addRun(this.#open, { command, kind: kind === "other" ? "evaluate" : kind, failed, at }, text);
    if (kind === "train" && alsoEvaluates(command))
      addRun(this.#open, { command, kind: "evaluate", failed, at }, text);
    addPrinted(this.#open, text, seen.clipped);
  }

  /** Takes the result of a tool that ran no program: a claim or an edit. */
  #takeOwnTool(seen: ToolResult): void {
    const { call, failed } = seen;
    if (call === undefined || failed) return;
    const claim = call.name === claimTool ? agentLine(call.input) : undefined;
    if (claim && this.#claimedByTool.size < iterationsMax) {
      this.#claimedByTool.set(claim.id, (this.#claimedByTool.get(claim.id) ?? 0) + 1);
      this.#takeClaim(claim, seen);
    } else if (editTool.test(call.name)) {
      this.#change();
      this.#proceed(seen);
    }
  }

  #takeLine(seen: Extract<TimedEvent, { kind: "claim" }>): void {
    const claim = agentLine(seen.line);
    const byTool = claim && this.#claimedByTool.get(claim.id);
    if (claim === undefined) this.#malformedLines++;
    else if (byTool) this.#claimedByTool.set(claim.id, byTool - 1);
    else this.#takeClaim(claim, seen);
  }

  #takeClaim(claim: Claim, seen: TimedEvent): void {
    const last = this.#last;
    const nothingSince = this.#toolsSeen && !ran(this.#open) && !this.#open.changed;
    if (nothingSince && last && last.claim === undefined && ran(last.episode)) {
      last.claim = claim; // it describes the episode that a rule has just ended
      return;
    }
    this.#proceed(seen);
    this.#close(claim);
  }

  #takeSnapshot(seen: Extract<TimedEvent, { kind: "snapshot" }>): void {
    if (seen.digest === this.#digest || seen.files === 0) return;
    this.#digest = seen.digest;
    this.#sinceSnapshot.changed = true;
    extend(this.#sinceSnapshot, seen);
    if (this.#running && !this.#toolsSeen && this.#bySnapshot.length < iterationsMax)
      this.#bySnapshot.push(this.#sinceSnapshot);
    this.#sinceSnapshot = new Episode(seen.index + 1, seen.sinceStartMs);
    const last = this.#last?.episode;
    const changed = this.#open.runs.length === 0 && last && !last.changed ? last : this.#open;
    changed.changed = true;
    extend(changed, seen);
  }

  #change(): void {
    if (ran(this.#open)) this.#close();
    this.#open.changed = true;
  }

  /** Extends the open episode to an event of what the model did. */
  #proceed(seen: TimedEvent): void {
    addSpent(this.#open.spent, this.#spent);
    this.#spent = nothingSpent();
    extend(this.#open, seen);
  }

  #close(claim?: Claim): void {
    this.#settle();
    this.#last = { episode: this.#open, claim };
    this.#open = new Episode(this.#open.to + 1, this.#open.endMs);
  }

  /** Makes a record of the last episode. By rule, only an episode that counts becomes one. */
  #settle(): void {
    if (this.#last === undefined) return;
    const { episode, claim } = this.#last;
    this.#last = undefined;
    const executed = this.#toolsSeen ? ran(episode) : this.#running;
    if (claim === undefined && !(executed && episode.changed)) return;
    if (this.#records.length >= iterationsMax) {
      this.#more++;
      return;
    }
    const id = this.#freshId(claim?.id ?? `rule-${this.#records.length + 1}`);
    // only an earlier iteration can be a parent, so that there is no cycle
    const parent = claim?.parent != null && this.#ids.has(claim.parent) ? claim.parent : null;
    this.#ids.add(id);
    this.#records.push(recordOf(episode, claim, { id, parent, executed }));
  }

  #freshId(id: string): string {
    if (!this.#ids.has(id)) return id;
    for (let next = this.#records.length + 1; ; next++)
      if (!this.#ids.has(`${id}~${next}`)) return `${id}~${next}`;
  }
}

/** Training again with other arguments is another experiment, although no file of the agent's own changed. */
function isAnotherExperiment(open: Episode, command: string, kind: string): boolean {
  if (kind !== "train") return false;
  return open.runs.some((run) => run.kind === "train" && !run.failed && run.command !== command);
}
