// The post to jobs on nodes without a shared disk, through the remote cache that is set for runs.
import { RunnerPost, type RunnerPostPlace } from "@mlrb/local/parcels/runner-post";
import { remoteAddressOf } from "../gates/remote-address.ts";

/** Undefined without a remote cache. */
export function jobPost(
  place: Omit<RunnerPostPlace, "cache">,
  env: NodeJS.ProcessEnv = process.env,
): RunnerPost | undefined {
  const cache = remoteAddressOf(env);
  return cache === undefined || "code" in cache ? undefined : new RunnerPost({ ...place, cache });
}
