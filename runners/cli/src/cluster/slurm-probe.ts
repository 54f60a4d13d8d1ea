// The program of a job of `pipeline doctor`: finds what its node has. Programs are run, not only searched for.
// Usage: `node slurm-probe.ts OUTPUT PYTHON NEEDS`, where NEEDS is the JSON of what its agents
// need of a sandbox, and whether stages have images.
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { nodeEngines, type SandboxEngine, type SandboxNeeds } from "@mlrb/agents/sandbox/sandbox-engines";
import { podman } from "@mlrb/docker/podman-on-node";
import type { SlurmNode } from "@mlrb/formats/stage/slurm-node";
import { writeJson } from "@mlrb/kit/json-file";
import { processorClass } from "@mlrb/local/decide/host-facts";
import { gpuInventory } from "@mlrb/local/leases/gpu-inventory";
import { abilities } from "@mlrb/local/process/namespaces";
import { wallsMissing } from "@mlrb/local/process/walls";
import { stageEngines, stageNeeds } from "./stage-walls-on-node.ts";

/** What it printed; undefined unless it ended with 0. */
function said(program: string, args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8", timeout: 15_000 });
  return status === 0 ? stdout.trim() : undefined;
}

const [, , output, python, needs] = process.argv;
/** The engines up to the first that can do it, which is the one that a job takes. */
async function tried(engines: SandboxEngine[], needs: SandboxNeeds): Promise<SlurmNode["sandboxes"]> {
  const found: SlurmNode["sandboxes"] = [];
  for (const engine of engines) {
    const missing = (await engine.missing(needs)) ?? null;
    found.push({ kind: engine.kind, missing });
    if (missing === null) break;
  }
  return found;
}

const { agents, contained } = JSON.parse(needs!) as { agents: SandboxNeeds; contained: boolean };
const sandboxes = await tried(nodeEngines(podman), agents);
const missing = (await wallsMissing()) ?? null;
const others = missing === null ? [] : await tried(stageEngines(undefined), stageNeeds(undefined));
const { bavail, bsize } = statfsSync(tmpdir());
// a stage without GPUs has an empty CUDA_VISIBLE_DEVICES
const granted = process.env.CUDA_VISIBLE_DEVICES ? gpuInventory().gpus : undefined;
const node: SlurmNode = {
  formatVersion: 1,
  host: hostname(),
  processor: processorClass(),
  python: said(python!, ["--version"])?.replace(/^Python /, "") ?? null,
  namespaces: await abilities(),
  walls: [{ kind: "namespaces", missing }, ...others],
  containers: contained ? await tried(stageEngines("host"), stageNeeds("host")) : [],
  sandboxes,
  temporaryBytes: bavail * bsize,
  gpus: granted?.map(({ model, uuid }) => `${model} (${uuid})`) ?? null,
  clockMs: Date.now(),
};
writeJson(output!, node);
