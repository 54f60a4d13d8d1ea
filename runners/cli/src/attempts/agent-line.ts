// The last line of the agent of each running attempt, for the live view: what its programs wrote, what its model
// said or what a tool answered. It is the agent's own text: the caller makes it harmless.
import { statSync } from "node:fs";
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

/** By stage instance. An attempt without an event of its agent has none. */
export function agentLines(
  { running }: Pick<StateFolder, "running">,
  { pipeline, profile }: { pipeline: string; profile: string },
): Map<string, string> {
  const lines = attemptFolders(running).flatMap(({ path, card: { slot, gives } }): [string, string][] => {
    if (slot.pipeline !== pipeline || slot.profile !== profile) return [];
    const { trajectory } = outputPaths(path, gives);
    const last = trajectory === undefined ? undefined : lastAgentLine(trajectory);
    return last === undefined ? [] : [[slot.stage, last]];
  });
  return new Map(lines);
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
