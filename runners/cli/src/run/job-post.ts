// The post to jobs on nodes without a shared disk, through the remote cache that is set for runs.
import { dirname, join } from "node:path";
import { RunnerPost, type RunnerPostPlace } from "@mlrb/local/parcels/runner-post";
import { statePaths } from "@mlrb/local/store/state-folder";
import { slurmProgram } from "../cluster/slurm-program.ts";
import { remoteAddressOf } from "../remote/remote-address.ts";

/** Undefined without a remote cache. */
export function jobPost(
  place: Omit<RunnerPostPlace, "cache" | "program">,
  env: NodeJS.ProcessEnv = process.env,
): RunnerPost | undefined {
  const cache = remoteAddressOf(env);
  return cache === undefined || "code" in cache
    ? undefined
    : new RunnerPost({ ...place, cache, program: slurmProgram });
}

/** Of an attempt in its folder, `.mlrb/attempts/running/NAME`. */
export function attemptPost(folder: string, env?: NodeJS.ProcessEnv): RunnerPost | undefined {
  const { state } = statePaths(dirname(dirname(dirname(dirname(folder)))));
  return jobPost({ state, scratch: join(folder, "parcels") }, env);
}
