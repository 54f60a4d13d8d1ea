// Runs the programs that exports are for: their own readers, in an environment of their own.
import { spawnSync } from "node:child_process";
import { ensureEnvironment } from "../../../../scripts/ensure-environment.ts";

export type Reader = { python: string; skip: false } | { python: undefined; skip: string };

/** `skip` says why they cannot run here. */
export async function exportReader(): Promise<Reader> {
  const python = await ensureEnvironment("pipelines/environments/exports.lock");
  const { status } = spawnSync(python, ["-c", "import inspect_ai, atif"]);
  if (status === 0) return { python, skip: false };
  return {
    python: undefined,
    skip: "the readers of exports run on no Python older than 3.11 (pipelines/environments/exports.in)",
  };
}

/** What the program prints, as JSON. Throws with what it said when it fails. */
export function readBack(python: string, program: string, args: string[]): unknown {
  const { status, stdout, stderr } = spawnSync(python, ["-c", program, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 29,
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  if (status !== 0) throw new Error(stderr.slice(-3000));
  return JSON.parse(stdout);
}
