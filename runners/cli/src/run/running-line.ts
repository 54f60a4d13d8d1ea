// The line that a pipe gets when nothing has ended for a while: what is running, and for how long.
// Pure: no disk, no clock.
import { type Now, timeWords } from "./live-lines.ts";
import { timeLeftText } from "./time-left-text.ts";

const shownMax = 3;

/** undefined if nothing is running. */
export function runningLine({ going, left, queued = "" }: Omit<Now, "done" | "total">): string | undefined {
  if (going.length === 0) return undefined;
  const named = going
    .slice(0, shownMax)
    .map((one) => `${one.id} ${timeWords(one)}${one.waits ? ` (${one.waits})` : ""}`);
  if (going.length > shownMax) named.push(`${going.length - shownMax} more`);
  const words = [queued, timeLeftText(left)].filter((part) => part !== "").map((part) => `; ${part}`);
  return `running ${named.join(", ")}${words.join("")}`;
}
