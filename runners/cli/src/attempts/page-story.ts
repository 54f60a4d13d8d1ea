// An attempt's story for the page, in bounded time and size: a page is drawn after each run, and a trajectory may
// have gigabytes.
import { accessSync, constants, statSync } from "node:fs";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import { type PageStory, storyBytesMax, toldBytesMax } from "@mlrb/report/page/page-data";
import { plainText } from "@mlrb/report/read/plain-text";
import { toldTrajectory, unreadParts } from "@mlrb/report/story/attempt-story";

const textMax = 400;

type Told<T> = T extends { kind: "read" | "unreadable" } ? Omit<T, "task" | "agent" | "seed"> : never;

/** `ledger`: path of the ledger. */
export function pageStory(trajectory: string, ledger?: string): Told<PageStory> {
  let bytes: number;
  try {
    accessSync(trajectory, constants.R_OK);
    bytes = statSync(trajectory).size;
  } catch (error) {
    return {
      kind: "unreadable",
      cause: `its file cannot be read (${(error as NodeJS.ErrnoException).code})`,
    };
  }
  const sealed = ledger === undefined ? "it has no ledger" : readLedger(ledger);
  const known = typeof sealed === "string" ? null : sealed;
  const { timeline, failures, budget, summary } = toldTrajectory(
    trajectoryLines(trajectory, toldBytesMax),
    known,
  );
  const plain = timeline.map((line) => ({
    ...line,
    what: plainText(line.what),
    text: plainText(line.text, textMax),
  }));
  let room = storyBytesMax;
  const over = plain.findIndex(({ what, text }) => {
    room -= Buffer.byteLength(what + text);
    return room < 0;
  });
  return {
    kind: "read",
    lines: over < 0 ? plain : plain.slice(0, over),
    fits: over < 0 && bytes <= toldBytesMax,
    bytes,
    budget: budget.map((part) => ({ ...part, words: plainText(part.words, textMax) })),
    failures: failures.map(({ whose, cause, count, detail }) => ({
      ...{ whose: plainText(whose), cause: plainText(cause), count },
      detail: plainText(detail, textMax),
    })),
    missing: unreadParts(summary.broken, typeof sealed === "string" ? sealed : undefined).map((one) =>
      plainText(one, textMax),
    ),
  };
}
