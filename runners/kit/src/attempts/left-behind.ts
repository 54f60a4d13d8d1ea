// The lines of a trajectory that a restart left behind: the attempt went back to a restore point from before them.
// They count in its cost, and are no part of its research.
import { isTable } from "@mlrb/formats/is-table";
import { splitLines } from "./split-lines.ts";

/** By the number of a line, from 0. The trajectory is verified. */
export async function leftBehind(path: string): Promise<(line: number) => boolean> {
  const gaps: { from: number; to: number }[] = [];
  let number = 0;
  for await (const line of splitLines(path)) {
    if (typeof line === "string") break;
    const event: unknown = line.includes('"resumed"') ? JSON.parse(line.toString()) : undefined;
    if (isTable(event) && event.event === "resumed" && typeof event.after === "number")
      gaps.push({ from: event.after, to: number });
    number++;
  }
  return (line) => gaps.some(({ from, to }) => line >= from && line < to);
}
