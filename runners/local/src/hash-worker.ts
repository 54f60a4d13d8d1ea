// A thread of hash-files: a path in, its digest out.
import { parentPort } from "node:worker_threads";
import { hashFile } from "./hash-file.ts";

parentPort!.on("message", (path: string) => {
  try {
    parentPort!.postMessage({ path, digest: hashFile(path) });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    parentPort!.postMessage({ path, error: { message, ...(code !== undefined && { code }) } });
  }
});
