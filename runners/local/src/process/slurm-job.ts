// The program of a Slurm job: carries out one stage on its node as the local executor does everywhere, so that limits,
// walls and network mean the same, and writes the result. Usage: `node slurm-job.ts FOLDER`.
// TERM asks the stage to end, USR2 kills it; both end its whole process tree.
import { readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { type SlurmClaim, type SlurmDone, slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import { createOnce } from "@mlrb/kit/files/create-once";
import { fileView } from "@mlrb/kit/files/file-view";
import { writeJson } from "@mlrb/kit/json-file";
import { hostFacts, processorClass } from "../decide/host-facts.ts";
import { gpuInventory } from "../leases/gpu-inventory.ts";
import { localExecutor } from "./local-executor.ts";
import { otherHost } from "./other-host.ts";

async function main(folder: string): Promise<void> {
  const { SLURM_JOB_ID: id = "", SLURMD_NODENAME: node = hostname() } = process.env;
  let asked: "TERM" | "USR2" | undefined;
  let running: Running | undefined;
  const end = () => (asked === "USR2" ? running?.kill() : running?.askToEnd());
  for (const signal of ["TERM", "USR2"] as const)
    process.on(`SIG${signal}`, () => {
      asked = signal;
      end();
    });
  const claim: SlurmClaim = { kind: "begun", formatVersion: 1, id, host: hostname(), node };
  if (!createOnce(join(folder, "claim.json"), claim)) {
    console.error("mlrb: another job or the runner has claimed this folder: nothing is done");
    return;
  }
  const file = join(folder, "request.json");
  const request = { ...(JSON.parse(readFileSync(file, "utf8")) as ExecutionRequest) };
  rmSync(file); // it holds the stage's variables
  process.env.PATH = request.env.PATH;
  let result: ExecutionResult;
  try {
    const gpus = grantedGpus(request);
    const { host = {} } = request.booked ?? {};
    // the facts of speed ask the GPU's driver, which may take seconds
    const other = otherHost(host, { ...("cpu" in host && hostFacts()), processor: processorClass() });
    if (other) result = { kind: "failed", cause: "operator", detail: other };
    else if ("trouble" in gpus) result = { kind: "failed", cause: "machine", detail: gpus.trouble };
    else {
      const executor = localExecutor(request.root, { python: null });
      running = executor.start({ ...request, gpus });
      if (asked) end();
      result = await running.ended;
      // Slurm signals all processes of a job at once: the stage may end by it before this program hears of it
      if (result.kind === "failed" && result.cause === "exit-code" && !asked) await sleep(500);
      if (asked && result.kind === "failed" && result.cause === "exit-code") result = { kind: "cancelled" };
      await executor.close?.();
    }
  } catch (error) {
    result = { kind: "failed", cause: "machine", detail: (error as Error).message };
  }
  const done: SlurmDone = {
    formatVersion: 1,
    ...{ job: basename(folder), id, host: hostname(), node, result },
    wrote: fileView(request.work, slurmOutputs),
  };
  writeJson(join(folder, "done.json"), done);
  process.exitCode = result.kind === "succeeded" ? 0 : 1; // for squeue's readers
}

/** The devices that Slurm granted: it names them in CUDA_VISIBLE_DEVICES. */
function grantedGpus({ booked }: ExecutionRequest): ExecutionRequest["gpus"] | { trouble: string } {
  const wanted = booked?.gpus ?? 0;
  if (wanted === 0) return [];
  const { CUDA_VISIBLE_DEVICES: granted = "" } = process.env;
  const { gpus, trouble } = granted === "" ? { gpus: [] } : gpuInventory();
  if (gpus.length === wanted) return gpus;
  const named = granted === "" ? "no GPU" : `"${granted}"`;
  return {
    trouble: `the stage wants ${wanted} GPUs; Slurm granted ${named} (CUDA_VISIBLE_DEVICES), of which nvidia-smi lists ${gpus.length}${trouble ? `: ${trouble}` : ""}`,
  };
}

const [, , folder] = process.argv;
await main(folder!);
