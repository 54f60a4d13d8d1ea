// Asks Slurm whether it would take a job, without submitting one: it knows its partitions, accounts, QOS,
// features, GPUs and limits better than any reader of their lists.
import { callSlurm } from "./call-slurm.ts";
import { askedOf, type Submission, sbatchArguments } from "./submission.ts";

/** Slurm's words, and what the job asks for; undefined if it would take the job. */
export async function trySubmission(
  request: Submission["request"],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ refusal: string; asked: string } | undefined> {
  const args = sbatchArguments({ request, run: "mlrb-doctor", comment: "doctor", output: "/dev/null" });
  const answer = await callSlurm("sbatch", ["--test-only", ...args], { env, input: "#!/bin/sh\n" });
  if (answer.kind === "ok") return undefined;
  return { refusal: answer.detail.replace(/^allocation failure: /, ""), asked: askedOf(args) };
}

/** The partitions, the default one with `*`; empty if Slurm does not answer. */
export async function partitions(env: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  const answer = await callSlurm("sinfo", ["--noheader", "--summarize", "--format=%P"], { env });
  return answer.kind === "ok" ? answer.text.split(/\s+/).filter(Boolean) : [];
}
