// Reads and words the current waits of an attempt, which its supervisor writes into the attempt's folder.
// Pure: the time is an argument.
import { type AttemptWait, attemptWaits } from "@mlrb/formats/attempt/attempt-wait";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import { readFormat } from "@mlrb/formats/read-format";
import { formatDuration } from "../text/units.ts";
import { shellWord } from "./command-line.ts";

/** In the attempt's folder while a person has paused it. */
export const pauseFile = "pause.json";

/**
 * In the folder of an attempt on a cluster: another text than before makes its waiting calls try again. The host
 * that submitted writes it.
 */
export const goOnFile = "go-on";

/** Absent while the attempt does not wait. */
export const waitFile = "waiting.json";

/** Undefined if the text does not follow this version's format. */
export function readWaits(text: string): AttemptWait[] | undefined {
  const reading = readFormat(attemptWaits, text);
  return reading.kind === "ok" ? reading.value.waits : undefined;
}

export function sortWaits(waits: AttemptWait[]): AttemptWait[] {
  const rank = ({ why, since }: AttemptWait) => `${why === "operator" ? 0 : 1} ${since}`;
  return [...waits].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

const headlines: Record<WaitReason, string> = {
  operator: "you",
  provider: "the provider",
  "rate-limit": "the provider's rate limit",
  gpu: "a GPU",
  suspended: "the cluster, which suspended its job",
  pause: "the person who works on it",
};

/**
 * e.g. `waits for the provider: unreachable: connect ECONNREFUSED 127.0.0.1:8000; for 12 m 0 s, tried again at
 * 12:40:00Z, ends unmeasured at 2026-11-23T13:28:00Z`. `resume` is the command for a person to type; null if there
 * is none.
 */
export function waitText(wait: AttemptWait, { now, resume }: { now: number; resume: string | null }): string {
  const { why, cause, detail, since, nextTry, giveUpAt } = wait;
  const forMs = Math.max(0, Math.floor((now - Date.parse(since)) / 1000) * 1000);
  const when = cause === "paused" ? "to continue" : "once repaired";
  const act = why === "operator" && resume !== null ? `; ${when}: ${resume}` : "";
  const next = nextTry === null ? "" : `, next try ${seconds(nextTry)}`;
  const end = giveUpAt === null ? "" : `, gives up ${seconds(giveUpAt)}`;
  const times = `for ${formatDuration(forMs)} since ${seconds(since)}${next}${end}`;
  return `waits for ${headlines[why]}: ${cause}: ${detail.slice(0, detailMax)}${act}; ${times}`;
}

const detailMax = 200;

function seconds(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}

/** The short name of a running attempt: the beginning of its folder's name and of its key. */
export function attemptId(name: string): string {
  return name.slice(0, 12);
}

/** `root`: the folder of the state, if that is not the repository. */
export function resumeCommand(name: string, root?: string): string {
  const at = root === undefined ? "" : ` --root ${shellWord(root)}`;
  return `pnpm pipeline attempts resume ${attemptId(name)}${at}`;
}
