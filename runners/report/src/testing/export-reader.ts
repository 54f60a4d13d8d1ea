// Runs the programs that read the exports, in a separate environment.
import { spawnSync } from "node:child_process";
import { ensureEnvironment } from "../../../../scripts/ensure-environment.ts";

export type Reader = { python: string; skip: false } | { python: undefined; skip: string };

/** `skip` is the reason why they cannot run here. */
export async function exportReader(): Promise<Reader> {
  const python = await ensureEnvironment("pipelines/environments/exports.lock");
  const { status } = spawnSync(python, ["-c", "import inspect_ai, atif"]);
  if (status === 0) return { python, skip: false };
  return {
    python: undefined,
    skip: "the readers of exports run on no Python older than 3.11 (pipelines/environments/exports.in)",
  };
}

/** The program's output, as JSON. Throws with its output when it fails. */
export function readBack(python: string, program: string, args: string[]): unknown {
  const { status, stdout, stderr } = spawnSync(python, ["-c", program, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 29,
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  if (status !== 0) throw new Error(stderr.slice(-3000));
  return JSON.parse(stdout);
}
