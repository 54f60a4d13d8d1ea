// Reminders of how much of the budget is used. Without them agents lost work that was finished and not yet submitted, so
// each share is announced once, in every open conversation.
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { Meter } from "../attempt/meter.ts";
import { spokenDuration } from "../attempt/render-prompt.ts";

const shares = [0.5, 0.75, 0.9, 0.97];
const minute = 60_000;

type Remaining = Pick<Meter, "usedShare" | "leftMs">;

/** The notices before each answer, as the scaffold words them. */
export function noticesOf(kind: ScaffoldSpec["kind"], meter: Remaining): () => string[] {
  return kind === "mlrb-2024" ? minutesLeft(meter) : deadlineNotices(meter);
}

/** Before every answer, the whole minutes that are left. */
export function minutesLeft(meter: Pick<Meter, "leftMs">): () => string[] {
  return () => [`Minutes left: ${Math.max(0, Math.floor(meter.leftMs() / minute))}`];
}

/** Returns the notices that are due. Of several passed shares only the last counts. */
export function deadlineNotices(meter: Pick<Meter, "usedShare" | "leftMs">): () => string[] {
  let announced = 0;
  return () => {
    const used = meter.usedShare();
    const passed = shares.filter((share) => used >= share).length;
    if (passed <= announced) return [];
    announced = passed;
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
