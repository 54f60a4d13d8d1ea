// The last line of the agent of each running attempt, for the live view: what its programs wrote, what its model
// said or what a tool answered. It is the agent's own text: the caller makes it harmless.
import { statSync } from "node:fs";
import { readFrom } from "@mlrb/kit/files/read-from";
import { attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { outputPaths } from "@mlrb/local/stage/output-paths";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { trajectoryLine } from "@mlrb/report/exports/trajectory-lines";
import { eventWords } from "@mlrb/report/story/event-words";
import { ofMember } from "@mlrb/report/story/timeline";
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
  "board",
]);

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

/** Looks at the end of the trajectory only. */
export function lastAgentLine(trajectory: string): string | undefined {
  const size = statSync(trajectory, { throwIfNoEntry: false })?.size ?? 0;
  const from = Math.max(0, size - bytesMax);
  const text = readFrom(trajectory, from, bytesMax)?.toString("utf8") ?? "";
  // the last line may be written right now, and the first one may be the end of a line
  const lines = text.split("\n").slice(from > 0 ? 1 : 0, -1);
  for (const line of lines.reverse()) {
    const read = trajectoryLine(0, Buffer.from(line));
    const words = read.kind === "event" && own.has(read.event.event) ? eventWords(read.event) : "";
    const last = plainLines(words).at(-1);
    if (last !== undefined) return ofMember(read, last);
  }
  return undefined;
}
