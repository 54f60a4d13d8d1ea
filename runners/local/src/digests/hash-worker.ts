// A thread of hash-files. Receives a file, with a destination if the file is to be copied. Posts the digest.
import { parentPort } from "node:worker_threads";
import { copyHashing, hashFile } from "./hash-file.ts";

parentPort!.on("message", ({ path, to }: { path: string; to?: string }) => {
  try {
    const digest = to === undefined ? hashFile(path) : copyHashing(path, to);
    parentPort!.postMessage({ path, digest });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    parentPort!.postMessage({ path, error: { message, ...(code !== undefined && { code }) } });
  }
});
