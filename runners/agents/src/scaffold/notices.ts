// Reminders of how much of the budget is used. Agents that were not told lost work that was finished but not yet
// handed in, so each share is told once, in every conversation that is going on.
import type { Meter } from "../attempt/meter.ts";
import { spokenDuration } from "../attempt/render-prompt.ts";

const shares = [0.5, 0.75, 0.9, 0.97];
const minute = 60_000;

/** Gives what is to be told now. Of several shares that passed meanwhile, the last. */
export function deadlineNotices(meter: Pick<Meter, "usedShare" | "leftMs">): () => string[] {
  let told = 0;
  return () => {
    const used = meter.usedShare();
    const passed = shares.filter((share) => used >= share).length;
    if (passed <= told) return [];
    told = passed;
    return [noticeText(shares[passed - 1]!, meter.leftMs())];
  };
}

function noticeText(share: number, leftMs: number): string {
  const minutes = Math.round(leftMs / minute);
  const left = minutes < 1 ? "Less than a minute" : `About ${spokenDuration(minutes * minute)}`;
  const advice =
    share < 0.75
      ? "Make sure that submission/ holds a complete, valid submission by now."
      : share < 0.9
        ? "Begin nothing that may not end in time; keep submission/ complete and valid."
        : "Finish: check what lies in submission/, keep it valid, and call submit when it is as good as it gets.";
  return `[Notice] ${Math.round(share * 100)} % of your budget is used. ${left} of working time left. ${advice}`;
}
