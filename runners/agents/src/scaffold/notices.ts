// Reminders of how much of the budget is used. Without them agents lost work that was finished and not yet
// submitted, so each share is announced once, in every open conversation.
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { Meter } from "../attempt/meter.ts";
import { spokenDuration } from "../attempt/render-prompt.ts";
import type { Numbered } from "../waiting/interventions.ts";

const shares = [0.5, 0.75, 0.9, 0.97];
const minute = 60_000;

type Remaining = Pick<Meter, "usedShare" | "leftMs">;

/** The notices before each answer, as the scaffold words them. `said`: those from before a restart. */
export function noticesOf(
  kind: ScaffoldSpec["kind"],
  meter: Remaining,
  said: readonly string[] = [],
): () => string[] {
  return kind === "mlrb-2024" ? minutesLeft(meter) : deadlineNotices(meter, said);
}

/** Before every answer, the whole minutes that are left. */
function minutesLeft(meter: Pick<Meter, "leftMs">): () => string[] {
  return () => [`Minutes left: ${Math.max(0, Math.floor(meter.leftMs() / minute))}`];
}

/** Returns the notices that are due. Of several passed shares only the last counts. */
function deadlineNotices(meter: Remaining, said: readonly string[] = []): () => string[] {
  let announced = Math.max(
    0,
    ...shares.map((share, at) => (said.some((text) => text.startsWith(noticeBegin(share))) ? at + 1 : 0)),
  );
  return () => {
    const used = meter.usedShare();
    const passed = shares.filter((share) => used >= share).length;
    if (passed <= announced) return [];
    announced = passed;
    return [noticeText(shares[passed - 1]!, meter.leftMs())];
  };
}

/** The first words after a restart, in every open conversation. */
export function restartNotice(
  { step, restore }: { step: number; restore?: object },
  meter: Pick<Meter, "leftMs">,
): string {
  return (
    "[Notice] The machine was restarted. All programs that ran are gone, with what they held in memory or on a GPU. " +
    `The files are as of step ${step}: your answers are counted. ` +
    `${restore ? "Working time that was lost is given back. " : ""}${timeLeft(meter.leftMs())} of working time left.`
  );
}

/** In every open conversation. */
export function interventionNotice(
  { addedMs, addedDollars }: Numbered,
  meter: Pick<Meter, "leftMs">,
): string {
  const added = [
    ...(addedMs > 0 ? [`${spokenDuration(addedMs)} of working time`] : []),
    ...(addedDollars > 0 ? [`${addedDollars} dollars for model calls`] : []),
  ];
  return `[Notice] A person extended your budget by ${added.join(" and ")}. ${timeLeft(meter.leftMs())} of working time left.`;
}

/** The result of a program that a tool ran during the restart. */
export const endedByRestart =
  "the machine was restarted while this ran: the program is gone, and may have done a part of its work; look at the files, and run it again where needed";

function timeLeft(leftMs: number): string {
  const minutes = Math.round(leftMs / minute);
  return minutes < 1 ? "Less than a minute" : `About ${spokenDuration(minutes * minute)}`;
}

const noticeBegin = (share: number) => `[Notice] ${Math.round(share * 100)} % of your budget is used.`;

function noticeText(share: number, leftMs: number): string {
  const advice =
    share < 0.75
      ? "Make sure that submission/ holds a complete, valid submission by now."
      : share < 0.9
        ? "Begin nothing that may not end in time; keep submission/ complete and valid."
        : "Finish: check what lies in submission/, keep it valid, and call submit when it is as good as it gets.";
  return `${noticeBegin(share)} ${timeLeft(leftMs)} of working time left. ${advice}`;
}
