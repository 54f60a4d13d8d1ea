// Prints what an attempt's agent wrote, line by line as in a terminal, with what its supervisor saw between. The
// text is the agent's own: nothing in it reaches the terminal that could control it.
import { redrawnLines } from "@mlrb/core/text/redrawn-lines";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { plainText } from "@mlrb/report/read/plain-text";
import { timelineLines } from "@mlrb/report/story/story-text";
import { ofMember } from "@mlrb/report/story/timeline";
import { storyLine } from "./story-line.ts";

type Shown = { tail?: number | undefined; width: number; color: boolean };

/** Prints the last `tail` lines, or all. */
export async function printAttempt(
  lines: Iterable<TrajectoryLine>,
  print: (text: string) => Promise<void> | void,
  { tail, width, color }: Shown,
): Promise<void> {
  const kept: string[] = [];
  for (const text of written(lines, { width, color })) {
    if (tail === undefined) await print(`${text}\n`);
    else if (kept.push(text) > tail) kept.shift();
  }
  for (const text of kept) await print(`${text}\n`);
}

function* written(
  lines: Iterable<TrajectoryLine>,
  look: { width: number; color: boolean },
): Generator<string> {
  /** By the member, whose name precedes each of its lines, and the stream. */
  const streams = new Map<string, ReturnType<typeof redrawnLines>>();
  for (const line of lines) {
    if (line.kind === "event" && line.event.event === "output") {
      const key = `${plainText(ofMember(line, ""))}\n${line.event.stream}`;
      yield* split(streams.getOrInsertComputed(key, redrawnLines).push(line.event.text), key);
      continue;
    }
    const story = storyLine(line, { full: false });
    if (story) yield* timelineLines(story, { ...look, full: true });
  }
  for (const [key, rest] of streams) yield* split(rest.end(), key);
}

function split(text: string, key: string): string[] {
  const [member] = key.split("\n");
  const lines = text === "" ? [] : terminalSafe(text).replace(/\n$/, "").split("\n");
  return member === "" ? lines : lines.map((line) => `${member} ${line}`);
}
