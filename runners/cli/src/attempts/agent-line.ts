// The last line of the agent of each running attempt, for the live view: what its programs wrote, what its model
// said or what a tool answered. It is the agent's own text: the caller makes it harmless.
import { existsSync, statSync } from "node:fs";
import { readFrom } from "@mlrb/kit/files/read-from";
import { attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { outputPaths } from "@mlrb/local/stage/output-paths";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { trajectoryLine } from "@mlrb/report/exports/trajectory-lines";
import { eventWords } from "@mlrb/report/story/event-words";
import { plainLines } from "../show/last-lines.ts";

/** Events of the agent, in contrast to those of its supervisor. */
const own = new Set([
  "exec",
  "output",
  "iteration",
  "note",
  "model-call",
  "model-try",
  "tool-call",
  "tool-result",
]);

/** Read from the end first; then eight times as much, until an event of the agent is found. */
const bytesFirst = 64 << 10;
const bytesMax = 512 << 10;

export class AgentLines {
  readonly #state: Pick<StateFolder, "running">;
  readonly #slot: { pipeline: string; profile: string };
  /** By stage instance. */
  readonly #trajectories = new Map<string, string>();

  constructor(state: Pick<StateFolder, "running">, slot: { pipeline: string; profile: string }) {
    this.#state = state;
    this.#slot = slot;
  }

  /** Undefined before the agent's first event, and if the attempt does not run. */
  last(stage: string): string | undefined {
    const known = this.#trajectories.get(stage);
    const path = known !== undefined && existsSync(known) ? known : this.#find(stage);
    return path === undefined ? undefined : lastAgentLine(path);
  }

  #find(stage: string): string | undefined {
    const { pipeline, profile } = this.#slot;
    const found = attemptFolders(this.#state.running).findLast(
      ({ card: { slot } }) => slot.stage === stage && slot.pipeline === pipeline && slot.profile === profile,
    );
    const { trajectory } = found ? outputPaths(found.path, found.card.gives) : {};
    if (trajectory !== undefined) this.#trajectories.set(stage, trajectory);
    return trajectory;
  }
}

export function lastAgentLine(trajectory: string): string | undefined {
  const size = statSync(trajectory, { throwIfNoEntry: false })?.size ?? 0;
  for (let bytes = bytesFirst; size > 0; bytes *= 8) {
    const from = Math.max(0, size - bytes);
    const lines = readFrom(trajectory, from, bytes)!.toString("utf8").split("\n");
    // the last one may be written right now, and the first one may be the end of a line
    for (const text of lines.slice(from > 0 ? 1 : 0, -1).reverse()) {
      const line = trajectoryLine(0, Buffer.from(text));
      const words = line.kind === "event" && own.has(line.event.event) ? eventWords(line.event) : "";
      const last = plainLines(words).at(-1);
      if (last !== undefined) return last;
    }
    if (from === 0 || bytes >= bytesMax) return undefined;
  }
  return undefined;
}
