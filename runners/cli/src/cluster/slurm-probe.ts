// The program of a job of `pipeline doctor`: finds what its node has. Programs are run, not only searched for.
// Usage: `node slurm-probe.ts OUTPUT PYTHON WEAK`, where WEAK is `true` if the memory limit of agents may be
// polled.
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { noGroupOnNode } from "@mlrb/agents/sandbox/choose-sandbox";
import type { SlurmNode } from "@mlrb/formats/stage/slurm-node";
import { writeJson } from "@mlrb/kit/json-file";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { processorClass } from "@mlrb/local/decide/host-facts";
import { gpuInventory } from "@mlrb/local/leases/gpu-inventory";
import { abilities } from "@mlrb/local/process/namespaces";
import { wallsMissing } from "@mlrb/local/process/walls";

/** What it printed; undefined unless it ended with 0. */
function said(program: string, args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8", timeout: 15_000 });
  return status === 0 ? stdout.trim() : undefined;
}

const [, , output, python, weak] = process.argv;
const holdsMemory = weak === "true" || (await mayLimitMemory());
const { bavail, bsize } = statfsSync(tmpdir());
// a stage without GPUs has an empty CUDA_VISIBLE_DEVICES
const granted = process.env.CUDA_VISIBLE_DEVICES ? gpuInventory().gpus : undefined;
const node: SlurmNode = {
  formatVersion: 1,
  host: hostname(),
  processor: processorClass(),
  python: said(python!, ["--version"])?.replace(/^Python /, "") ?? null,
  namespaces: await abilities(),
  walls: (await wallsMissing()) ?? null,
  sandbox: (await bubblewrapMissing()) ?? (holdsMemory ? null : noGroupOnNode),
  temporaryBytes: bavail * bsize,
  gpus: granted?.map(({ model, uuid }) => `${model} (${uuid})`) ?? null,
  clockMs: Date.now(),
};
writeJson(output!, node);
