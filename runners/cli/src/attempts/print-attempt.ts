// Prints what an attempt's agent wrote, line by line as in a terminal, with what its supervisor saw between. The
// text is the agent's own: nothing in it reaches the terminal that could control it.
import { redrawnLines } from "@mlrb/core/text/redrawn-lines";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { timelineLines } from "@mlrb/report/story/story-text";
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
  const streams = new Map<string, ReturnType<typeof redrawnLines>>();
  for (const line of lines) {
    if (line.kind === "event" && line.event.event === "output") {
      const { stream, text } = line.event;
      yield* split(streams.getOrInsertComputed(stream, redrawnLines).push(text));
      continue;
    }
    const story = storyLine(line, { full: false });
    if (story) yield* timelineLines(story, { ...look, full: true });
  }
  for (const rest of streams.values()) yield* split(rest.end());
}

function split(text: string): string[] {
  return text === "" ? [] : terminalSafe(text).replace(/\n$/, "").split("\n");
}
