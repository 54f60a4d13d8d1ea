// One call of a program of Slurm. Its programs exist in every version and on every site, and a person can repeat a
// failed call; the REST server and libslurm do not. Classifies failures in one place.
import { tmpdir } from "node:os";
import { execa } from "execa";

export type SlurmAnswer =
  | { kind: "ok"; text: string }
  | { kind: "no-program" | "away" | "full" | "refused"; detail: string };

/** Slurm's own timeouts are shorter, unless a site has longer ones. */
const answerMs = 60_000;

export type SlurmCall = { env: NodeJS.ProcessEnv; input?: string };

/** Never rejects. */
export async function callSlurm(
  program: string,
  args: readonly string[],
  { env, input }: SlurmCall,
): Promise<SlurmAnswer> {
  const result = await execa(program, args, {
    env: { ...withoutOptions(env), LC_ALL: "C", MLRB_EXECUTOR: "slurm" },
    extendEnv: false,
    ...(input === undefined ? { stdin: "ignore" as const } : { input }),
    detached: true, // Ctrl-C in the terminal must reach the runner only, which ends everything in order
    cwd: tmpdir(),
    reject: false,
    timeout: answerMs,
    forceKillAfterDelay: 2_000,
  });
  if (!result.failed) return { kind: "ok", text: result.stdout };
  if (result.code === "ENOENT")
    return {
      kind: "no-program",
      detail: `there is no ${program} on PATH: run this on a host that submits jobs`,
    };
  if (result.timedOut)
    return { kind: "away", detail: `${program} did not answer within ${answerMs / 1000} s` };
  const said = result.stderr.trim();
  // one that was killed, or says nothing, may have done its work
  if (said === "") return { kind: "away", detail: result.originalMessage ?? `${program} was killed` };
  return { kind: failureKind(said), detail: lastError(said) };
}

/** Slurm's programs take options from variables too: a person's filter for `squeue` would hide the run's own jobs. */
export function withoutOptions(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOption = /^(SACCT|SBATCH|SCANCEL|SINFO|SQUEUE|SRUN)_/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOption.test(name)));
}

/** Classifies the error text of Slurm's programs. Recorded with 22.05; `full` is from its documentation. */
export function failureKind(said: string): "away" | "full" | "refused" {
  // the words "job submit limit" say nothing: Slurm has one text for all limits of an account or a QOS
  if (/(Max|Grp)SubmitJob|MaxJobCount|temporarily unable to accept job/i.test(said)) return "full";
  if (
    /unable to contact slurm controller|controller.*not responding|in standby mode|socket timed out|transport endpoint|connection (refused|timed out)|connect failure|zero bytes were transmitted|protocol authentication error|munge/i.test(
      said,
    )
  )
    return "away";
  return "refused";
}

/**
 * The last message, without the program's name and the words that every message has. A line of one word before it
 * names the limit.
 */
export function lastError(said: string): string {
  const lines = said
    .split("\n")
    .map((line) => line.replace(/^\w+: error: |^\w+: /, "").trim())
    .filter(Boolean);
  const limit = lines.at(-2);
  const last = (lines.at(-1) ?? "").replace(/^Batch job submission failed: /, "").slice(-400);
  return limit !== undefined && /^\w+$/.test(limit) ? `${limit}: ${last}` : last;
}
