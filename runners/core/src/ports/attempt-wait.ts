// What an attempt waits for at this moment, as its supervisor writes it into the attempt's folder: any process can
// show it. Reads the file and words it for people.
// Pure: the time is an argument.
import { type AttemptWait, attemptWaits } from "@mlrb/formats/attempt/attempt-wait";
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import { readFormat } from "@mlrb/formats/read-format";
import { formatDuration } from "../text/units.ts";

/** Absent while nothing is waited for. */
export const waitFile = "waiting.json";

/** Undefined where it is not such a file, or one of a newer program. */
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
};

/**
 * e.g. `waits for the provider: unreachable: connect ECONNREFUSED 127.0.0.1:8000; for 12 m 0 s, tried again at 12:40:00Z,
 * ends unmeasured at 2026-11-23T13:28:00Z`. `resume` is the command that a person types; null where there is none.
 */
export function waitText(wait: AttemptWait, { now, resume }: { now: number; resume: string | null }): string {
  const { why, cause, detail, since, nextTry, giveUpAt } = wait;
  const forMs = Math.max(0, Math.floor((now - Date.parse(since)) / 1000) * 1000);
  const act = why === "operator" && resume !== null ? `; once repaired: ${resume}` : "";
  const times = `for ${formatDuration(forMs)} since ${seconds(since)}, next try ${seconds(nextTry)}, gives up ${seconds(giveUpAt)}`;
  return `waits for ${headlines[why]}: ${cause}: ${detail.slice(0, detailMax)}${act}; ${times}`;
}

const detailMax = 200;

function seconds(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}

/** How a person names an attempt that goes on: the beginning of its folder's name, which is that of its key. */
export function attemptId(name: string): string {
  return name.slice(0, 12);
}

/** `root`: where the state lies, if that is not the repository. */
export function resumeCommand(name: string, root?: string): string {
  const at =
    root === undefined
      ? ""
      : ` --root ${/^[\w./+-]+$/.test(root) ? root : `'${root.replaceAll("'", "'\\''")}'`}`;
  return `pnpm pipeline attempts resume ${attemptId(name)}${at}`;
}
