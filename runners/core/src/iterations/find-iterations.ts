// Finds the iterations of an attempt in its trajectory: from the agent's own lines, else by rule from what ran,
// changed and was measured. No rule reads the words of a command or of a text. One pass, bounded memory.
import type { IterationRecord } from "@mlrb/formats/attempt/iterations";
import { agentLine, type Claim } from "./agent-line.ts";
import { addPrinted, addSpent, Episode, extend, nothingSpent, recordOf } from "./episode.ts";
import { evaluatedValues, type MeasuredValue } from "./measured-values.ts";
import { commandOf, cut, type TimedEvent, type ToolResult } from "./timed-event.ts";

export const iterationsMax = 2000;
/** Our tool that appends a line. The line itself is read a little later, perhaps after the next experiment. */
const claimTool = "iteration";
/** The scaffolds' tools that write files themselves. What a program writes is seen once it is submitted. */
const editTools = new Set(["edit_file", "write_file"]);
const measuredMax = 1000;

export class IterationFinder {
  readonly #records: IterationRecord[] = [];
  readonly #ids = new Set<string>();
  /** Used where no tool call is seen and the agent writes no lines. */
  readonly #bySnapshot: Episode[] = [];
  /** Ids of claims that came by the tool, with how many of their lines are still to be read. */
  readonly #claimedByTool = new Map<string, number>();
  #more = 0;
  #malformedLines = 0;
  #unsigned = 0;
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
    const { event, result } = seen;
    switch (event?.event) {
      case "exec":
        this.#running = true;
        break;
      case "output":
        for (const episode of [this.#open, this.#sinceSnapshot]) addPrinted(episode, cut(event.text));
        break;
      case "model-call": {
        const { usage, dollars } = event;
        const tokens = usage && usage.inputTokens + usage.outputTokens;
        addSpent(this.#spent, { tokens, dollars, unpriced: dollars === null });
        break;
      }
      case "tool-call":
        this.#toolsSeen = true;
        break;
      case "tool-result":
        if (result?.executed) this.#takeRun(seen, result);
        else if (result) this.#takeOwnTool(seen, result);
        break;
      case "iteration":
        this.#takeLine(seen, cut(event.line));
        break;
      case "snapshot":
        if (event.files > 0) this.#takeSnapshot(seen, event.digest);
    }
  }

  /** Call once, after the last event. */
  end() {
    if (this.#toolsSeen && this.#open.ran) this.#close();
    this.#settle();
    if (this.#records.length === 0 && !this.#toolsSeen)
      for (const [at, episode] of this.#bySnapshot.entries())
        this.#records.push(
          recordOf(episode, undefined, { id: `rule-${at + 1}`, parent: null, executed: true }),
        );
    return {
      iterations: this.#records,
      ...{ more: this.#more, malformedLines: this.#malformedLines },
      /** Claims whose line came from no tool and names no member of a team. */
      unsigned: this.#unsigned,
    };
  }

  #takeRun(seen: TimedEvent, { call, text, failed }: ToolResult): void {
    const command = commandOf(call);
    const values = failed ? [] : evaluatedValues(text);
    if (isAnotherExperiment(this.#open, command, values)) this.#close();
    if (this.#open.from > call.index) this.#open.from = call.index;
    this.#proceed(seen);
    this.#open.command = command;
    if (failed) return;
    this.#open.ran = true;
    addPrinted(this.#open, `\n${text}`);
    if (values.length > 0) this.#open.measuredBy = command;
    for (const one of values)
      if (this.#open.measured.size < measuredMax) this.#open.measured.set(keyOf(one), one.value);
  }

  /** Takes the result of a tool that ran no program: a claim or an edit. */
  #takeOwnTool(seen: TimedEvent, { call, failed }: ToolResult): void {
    if (failed) return;
    const claim = call.name === claimTool ? agentLine(call.input) : undefined;
    if (claim && this.#claimedByTool.size < iterationsMax) {
      this.#claimedByTool.set(claim.id, (this.#claimedByTool.get(claim.id) ?? 0) + 1);
      this.#takeClaim(claim, seen);
    } else if (editTools.has(call.name)) {
      this.#change();
      this.#proceed(seen);
    }
  }

  #takeLine(seen: TimedEvent, line: string): void {
    const claim = agentLine(line);
    const byTool = claim && this.#claimedByTool.get(claim.id);
    if (claim === undefined) this.#malformedLines++;
    else if (byTool) this.#claimedByTool.set(claim.id, byTool - 1);
    else {
      if (seen.event?.member === undefined) this.#unsigned++;
      this.#takeClaim(claim, seen);
    }
  }

  #takeClaim(claim: Claim, seen: TimedEvent): void {
    const last = this.#last;
    const nothingSince = this.#toolsSeen && !this.#open.ran && !this.#open.changed;
    if (nothingSince && last && last.claim === undefined && last.episode.ran) {
      last.claim = claim; // it describes the episode that a rule has just ended
      return;
    }
    this.#proceed(seen);
    this.#close(claim);
  }

  /** Takes a submission with files. */
  #takeSnapshot(seen: TimedEvent, digest: string): void {
    if (digest === this.#digest) return;
    this.#digest = digest;
    markSubmitted(this.#sinceSnapshot, seen);
    if (this.#running && !this.#toolsSeen && this.#bySnapshot.length < iterationsMax)
      this.#bySnapshot.push(this.#sinceSnapshot);
    this.#sinceSnapshot = new Episode(seen.index + 1, seen.sinceStartMs);
    const last = this.#last?.episode;
    markSubmitted(!this.#open.ran && last && !last.submitted ? last : this.#open, seen);
  }

  #change(): void {
    if (this.#open.ran) this.#close();
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
    const executed = this.#toolsSeen ? episode.ran : this.#running;
    if (claim === undefined && !(executed && (episode.submitted || episode.measured.size > 0))) return;
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

/** Another command that measures the same again with another result, e.g. with another flag, although no file changed. */
function isAnotherExperiment(open: Episode, command: string, values: MeasuredValue[]): boolean {
  if (open.measuredBy === null || open.measuredBy === command) return false;
  return values.some((one) => {
    const before = open.measured.get(keyOf(one));
    return before !== undefined && !Object.is(before, one.value);
  });
}

function keyOf({ name, split }: MeasuredValue): string {
  return JSON.stringify([name, split]);
}

function markSubmitted(episode: Episode, seen: TimedEvent): void {
  episode.changed = episode.submitted = true;
  extend(episode, seen);
}
