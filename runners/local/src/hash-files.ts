// Hashes large files on several threads, so that four gigabytes neither take as long as on one nor keep
// the runner from hearing that a stage ended or somebody pressed Ctrl-C.
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** From here on a file is worth a thread. */
export const largeBytes = 16 << 20;

type Answer = { path: string } & ({ digest: string } | { error: { message: string; code?: string } });

/**
 * sha256 of each file's bytes, in hex, by path. Throws what reading one throws; once `signal` is aborted, its
 * AbortError, with all threads ended.
 */
export async function hashFiles(
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  signal?.throwIfAborted();
  if (paths.length === 0) return digests;
  const left = [...paths];
  const work = async () => {
    const worker = new Worker(new URL("./hash-worker.ts", import.meta.url));
    try {
      for (let path = left.shift(); path !== undefined; path = left.shift()) {
        const answer = await ask(worker, path, signal);
        if ("error" in answer) throw Object.assign(new Error(answer.error.message), answer.error);
        digests.set(path, answer.digest);
      }
    } finally {
      await worker.terminate();
    }
  };
  const threads = Math.min(paths.length, Math.max(1, availableParallelism()), 8);
  await Promise.all(Array.from({ length: threads }, work));
  return digests;
}

async function ask(worker: Worker, path: string, signal: AbortSignal | undefined): Promise<Answer> {
  const answer = once(worker, "message", { signal }); // an error of the thread rejects it
  worker.postMessage(path);
  return ((await answer) as [Answer])[0];
}
