// The program of a job of `pipeline doctor`: finds what its node has. Programs are run, not only searched for.
// Usage: `node slurm-probe.ts OUTPUT PYTHON`.
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import type { SlurmNode } from "@mlrb/formats/stage/slurm-node";
import { writeJson } from "@mlrb/kit/json-file";
import { processorClass } from "../decide/host-facts.ts";
import { gpuInventory } from "../leases/gpu-inventory.ts";
import { abilities } from "./namespaces.ts";
import { wallsMissing } from "./walls.ts";

/** What it printed; undefined unless it ended with 0. */
function said(program: string, args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8", timeout: 15_000 });
  return status === 0 ? stdout.trim() : undefined;
}

const [, , output, python] = process.argv;
const walls = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"];
const { bavail, bsize } = statfsSync(tmpdir());
// a stage without GPUs has an empty CUDA_VISIBLE_DEVICES
const granted = process.env.CUDA_VISIBLE_DEVICES ? gpuInventory().gpus : undefined;
const node: SlurmNode = {
  formatVersion: 1,
  host: hostname(),
  processor: processorClass(),
  python: said(python!, ["--version"])?.replace(/^Python /, "") ?? null,
  namespaces: await abilities(),
  noWalls: (await wallsMissing()) ?? null,
  bubblewrap: said("bwrap", [...walls, "true"]) !== undefined,
  temporaryBytes: bavail * bsize,
  gpus: granted?.map(({ model, uuid }) => `${model} (${uuid})`) ?? null,
  clockMs: Date.now(),
};
writeJson(output!, node);
