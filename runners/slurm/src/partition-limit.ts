// The time limit of a partition. An attempt that may take longer is carried out by several jobs, one after the other.
import { callSlurm } from "./call-slurm.ts";

/** Undefined without a limit, or where Slurm does not say. Without a name it is the default partition's. */
export async function partitionLimit(
  partition: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number | undefined> {
  const answer = await callSlurm("sinfo", ["--noheader", "--format=%P|%l"], { env });
  return answer.kind === "ok" ? limitIn(answer.text, partition) : undefined;
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
