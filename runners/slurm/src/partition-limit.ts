// The time limit of a partition. An attempt that may take longer is carried out by several jobs, one after the
// other.
import { setTimeout as sleep } from "node:timers/promises";
import { callSlurm, type SlurmAnswer } from "./call-slurm.ts";
import type { JobTimes } from "./job-times.ts";

/** `limitMs` is undefined for a partition without a limit. Without a name it is the default partition's. */
export async function partitionLimit(
  partition: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ kind: "known"; limitMs: number | undefined } | Exclude<SlurmAnswer, { kind: "ok" }>> {
  // hidden partitions too: the profile may name one
  const answer = await callSlurm("sinfo", ["--all", "--noheader", "--format=%P|%l"], { env });
  return answer.kind === "ok" ? { kind: "known", limitMs: limitIn(answer.text, partition) } : answer;
}

type Patience = {
  env: NodeJS.ProcessEnv;
  times: Pick<JobTimes, "intervalMs" | "patienceMs">;
  signal: AbortSignal;
  /** Called when Slurm does not answer for the first time. */
  waits(why: string): void;
};

/** Asks again while Slurm is away, as long as a submission would. Rejects if Slurm does not say the limit. */
export async function awaitPartitionLimit(
  partition: string | undefined,
  { env, times, signal, waits }: Patience,
): Promise<number | undefined> {
  const begin = performance.now();
  for (let tried = 0; ; tried++) {
    const answer = await partitionLimit(partition, env);
    if (answer.kind === "known") return answer.limitMs;
    if (answer.kind !== "away" || performance.now() - begin > times.patienceMs)
      throw new Error(`Slurm does not say the time limit of its partition: ${answer.detail}`);
    if (tried === 0) waits(`Slurm does not answer: ${answer.detail}`);
    await sleep(Math.min(times.intervalMs, 1000 * 2 ** tried), undefined, { signal });
  }
}

/** In ms. Of several partitions, by their names and commas, the shortest: Slurm chooses one. */
export function limitIn(text: string, partition: string | undefined): number | undefined {
  const asked = partition?.split(",");
  const limits = text.split("\n").flatMap((line) => {
    const [name = "", limit = ""] = line.trim().split("|");
    const isAsked = asked ? asked.includes(name.replace(/\*$/, "")) : name.endsWith("*");
    return isAsked ? (limitMs(limit) ?? []) : [];
  });
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

/** Of `[days-]hours:minutes:seconds` or `minutes:seconds`. */
function limitMs(text: string): number | undefined {
  const [, days = "0", clock = ""] = /^(?:(\d+)-)?([\d:]+)$/.exec(text) ?? [];
  if (clock === "") return undefined; // infinite
  const seconds = clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  return (86_400 * Number(days) + seconds) * 1000;
}

/** How long before its end a job begins to close: a call in flight may end, and the work is sealed. */
export function closingMs(jobMs: number): number {
  return Math.min(120_000, jobMs / 2);
}

/** How many jobs in a row an attempt of this time takes at least. */
export function jobsInARow(wantedMs: number, limitMs: number | undefined): number {
  if (limitMs === undefined || wantedMs <= limitMs) return 1;
  return Math.ceil(wantedMs / (limitMs - closingMs(limitMs)));
}
