// Hashes and copies large files on several threads. Four gigabytes take less time than on one thread, and the
// runner still notices Ctrl-C and the end of a stage.
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** Size in bytes from which a file is hashed on a thread. */
export const largeBytes = 16 << 20;

type Answer = { path: string } & ({ digest: string } | { error: { message: string; code?: string } });

/**
 * Returns the sha256 of each file's bytes, in hex, by path. Throws the error of an unreadable file. Once `signal`
 * is aborted, ends all threads and throws its AbortError.
 */
export function hashFiles(paths: readonly string[], signal?: AbortSignal): Promise<Map<string, string>> {
  return onThreads(
    paths.map((path) => ({ path })),
    signal,
  );
}

/** Copies each file to its value in `copies`, which must not exist. Returns sha256 by source path, in hex. */
export function copyFiles(
  copies: ReadonlyMap<string, string>,
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  return onThreads(
    [...copies].map(([path, to]) => ({ path, to })),
    signal,
  );
}

type Job = { path: string; to?: string };

async function onThreads(
  jobs: readonly Job[],
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  signal?.throwIfAborted();
  if (jobs.length === 0) return digests;
  const left = [...jobs];
  const work = async () => {
    const worker = new Worker(new URL("./hash-worker.ts", import.meta.url));
    try {
      for (let job = left.shift(); job !== undefined; job = left.shift()) {
        const answer = await ask(worker, job, signal);
        if ("error" in answer) throw Object.assign(new Error(answer.error.message), answer.error);
        digests.set(job.path, answer.digest);
      }
    } catch (error) {
      left.length = 0;
      throw error;
    } finally {
      await worker.terminate();
    }
  };
  const threads = Math.min(jobs.length, Math.max(1, availableParallelism()), 8);
  const ends = await Promise.allSettled(Array.from({ length: threads }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return digests;
}

async function ask(worker: Worker, job: Job, signal: AbortSignal | undefined): Promise<Answer> {
  const answer = once(worker, "message", { signal }); // an error of the thread rejects it
  worker.postMessage(job);
  return ((await answer) as [Answer])[0];
}
