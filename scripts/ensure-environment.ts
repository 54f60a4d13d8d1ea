// Builds the environment of a lock file in the pipeline's place, unless it exists, and returns its Python. For
// tests and for running Python scripts by hand:
//   node scripts/ensure-environment.ts pipelines/environments/ml.lock
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FileDigests } from "@mlrb/local/digests/file-digest-memory";
import { takeLease } from "@mlrb/local/leases/lease";
import {
  clearEnvironment,
  environmentKey,
  environmentPath,
  environmentPython,
  environmentReady,
  markReady,
} from "@mlrb/local/process/environments";
import { stateFolder } from "@mlrb/local/store/state-folder";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Absolute path of the environment's Python. Throws an error with the output of the build when it fails. */
export async function ensureEnvironment(lock: string, root: string = repository): Promise<string> {
  const state = stateFolder(root);
  const key = environmentKey(lock, { state, digests: new FileDigests(repository, state.memory) });
  const path = environmentPath(state, key);
  const lease = await takeLease(state.leases, key);
  try {
    if (environmentReady(path)) return environmentPython(path);
    clearEnvironment(path);
    mkdirSync(path, { recursive: true });
    const step = join(repository, "pipelines/steps/environment.ts");
    const args = ["--param", `lock=${lock}`, "--output", `environment=${path}`];
    await promisify(execFile)(process.execPath, [step, ...args], {
      cwd: repository,
      maxBuffer: 1 << 28,
    }).catch(({ message, stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`.trim() || message);
    });
    markReady(path, key);
    return environmentPython(path);
  } finally {
    lease?.release();
  }
}

if (import.meta.main)
  console.log(await ensureEnvironment(process.argv[2] ?? "pipelines/environments/ml.lock"));
