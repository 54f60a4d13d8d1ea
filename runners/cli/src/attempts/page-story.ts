// An attempt's story for the page, in bounded time and size: a page is drawn after each run, and a trajectory may
// have gigabytes.
import { accessSync, constants, statSync } from "node:fs";
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import {
  experimentsMax,
  type PageLine,
  type PageStory,
  storyBytesMax,
  toldBytesMax,
  wholeBytesMax,
} from "@mlrb/report/page/page-data";
import { plainText } from "@mlrb/report/read/plain-text";
import { toldTrajectory, unreadParts } from "@mlrb/report/story/attempt-story";
import { experimentWords } from "@mlrb/report/story/story-text";
import { whole } from "./read-attempt.ts";

const textMax = 400;
const experimentTextMax = 120;

type Told<T> = T extends { kind: "read" | "unreadable" } ? Omit<T, "task" | "agent" | "seed"> : never;

/** `ledger`: path of the ledger. `attachments`: the folder of long texts. */
export function pageStory(trajectory: string, ledger?: string, attachments?: string): Told<PageStory> {
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
  const { timeline, failures, budget, members, research, summary } = toldTrajectory(
    trajectoryLines(trajectory, toldBytesMax),
    known,
  );
  let wholeRoom = wholeBytesMax;
  const plain = timeline.map(({ whole = [], ...line }): PageLine => {
    const shown = { ...line, what: plainText(line.what), text: plainText(line.text, textMax) };
    const length = whole.reduce(
      (sum, text) => sum + (typeof text === "string" ? text.length : text.bytes),
      0,
    );
    if (length <= shown.text.length) return shown;
    const full = fullText(whole, { room: wholeRoom, attachments });
    wholeRoom -= Buffer.byteLength(full);
    return { ...shown, full };
  });
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
    members,
    failures: failures.map(({ whose, cause, count, detail }) => ({
      ...{ whose: plainText(whose), cause: plainText(cause), count },
      detail: plainText(detail, textMax),
    })),
    ...experimentsOf(research),
    missing: unreadParts(summary.broken, typeof sealed === "string" ? sealed : undefined).map((one) =>
      plainText(one, textMax),
    ),
  };
}

type Research = ReturnType<typeof toldTrajectory>["research"];

function experimentsOf(research: Research) {
  const { iterations = [], iterationsMore = 0 } = research ?? {};
  const short = (text: string | null) => (text === null ? null : plainText(text, experimentTextMax));
  return {
    experiments: iterations.slice(0, experimentsMax).map((one) => ({
      ...{ sinceStartMs: one.sinceStartMs, source: one.source, decision: short(one.decision) },
      what: plainText(experimentWords(one), experimentTextMax),
      metric: one.metric && {
        ...one.metric,
        name: plainText(one.metric.name),
        split: short(one.metric.split),
      },
    })),
    experimentsMore: Math.max(0, iterations.length - experimentsMax) + iterationsMore,
  };
}

/** Texts below each other. Where there is no room for all of them, the last words say where the rest is. */
function fullText(
  texts: LongText[],
  { room, attachments }: { room: number; attachments: string | undefined },
) {
  const told: string[] = [];
  let left = Math.max(0, room);
  for (const each of texts) {
    const { text, missing } = whole(each, { bytesMax: left, folder: attachments });
    const cut = text.slice(0, left);
    const rest = missing ?? (cut.length < text.length ? `${text.length - cut.length} more characters` : null);
    told.push(rest === null ? cut : `${cut}\n[${rest}; the command below exports all of it]`);
    left -= Buffer.byteLength(cut);
  }
  return told.join("\n\n");
}
