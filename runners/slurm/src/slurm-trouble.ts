// Whether this host can submit jobs now.
import { callSlurm } from "./call-slurm.ts";

/** Why not; undefined if it can. */
export async function slurmTrouble(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const [program, ...args] of [
    ["sbatch", "--version"],
    ["sinfo", "--noheader", "--format=%P"],
  ] as const) {
    const answer = await callSlurm(program, args, { env });
    if (answer.kind !== "ok")
      return answer.kind === "away" ? `Slurm does not answer: ${answer.detail}` : answer.detail;
  }
  return undefined;
}
