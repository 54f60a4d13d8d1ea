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
  /** By member and stream. */
  const streams = new Map<string, { whose: string; written: ReturnType<typeof redrawnLines> }>();
  for (const line of lines) {
    if (line.kind === "event" && line.event.event === "output") {
      const whose = plainText(ofMember(line, ""));
      const made = () => ({ whose, written: redrawnLines() });
      const { written } = streams.getOrInsertComputed(`${whose}${line.event.stream}`, made);
      yield* split(written.push(line.event.text), whose);
      continue;
    }
    const story = storyLine(line, { full: false });
    if (story) yield* timelineLines(story, { ...look, full: true });
  }
  for (const { whose, written } of streams.values()) yield* split(written.end(), whose);
}

function split(text: string, whose: string): string[] {
  const lines = text === "" ? [] : terminalSafe(text).replace(/\n$/, "").split("\n");
  return whose === "" ? lines : lines.map((line) => `${whose} ${line}`);
}
