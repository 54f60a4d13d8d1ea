// A Slurm job: carries out one stage on its node as the local executor does everywhere, so that limits, walls and
// network mean the same, and writes the result. TERM asks the stage to end, USR2 kills it; both end its whole
// process tree. end.json in FOLDER says the same without Slurm, and a job whose folder is gone is killed.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { relayVariable } from "@mlrb/core/ports/relay";
import { readFormat } from "@mlrb/formats/read-format";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { type SlurmClaim, type SlurmDone, slurmEnd, slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { createOnce } from "@mlrb/kit/files/create-once";
import { fileView } from "@mlrb/kit/files/file-view";
import { writeJson } from "@mlrb/kit/json-file";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { hostFacts, processorClass } from "../decide/host-facts.ts";
import { gpuInventory } from "../leases/gpu-inventory.ts";
import { startHeart } from "../leases/heartbeat.ts";
import { ifReadable } from "../store/if-readable.ts";
import { localExecutor } from "./local-executor.ts";
import { otherHost } from "./other-host.ts";
import { makeRelayFolder } from "./relay-folder.ts";

/** `folder` is the job's. */
export async function runSlurmJob(folder: string): Promise<void> {
  const { SLURM_JOB_ID: id = "", SLURMD_NODENAME: node = hostname() } = process.env;
  let asked: "TERM" | "USR2" | undefined;
  let running: Running | undefined;
  const end = () => (asked === "USR2" ? running?.kill() : running?.askToEnd());
  const ask = (signal: "TERM" | "USR2") => {
    if (asked === signal || asked === "USR2") return;
    asked = signal;
    end();
  };
  for (const signal of ["TERM", "USR2"] as const) process.on(`SIG${signal}`, () => ask(signal));
  const request = begin(folder, { id, host: hostname(), node });
  if (!request) {
    console.error("mlrb: another job or the runner has claimed this folder: nothing is done");
    return;
  }
  const heart = startHeart(join(folder, "claim.json"));
  const looks = setInterval(() => {
    const wish = wishIn(folder);
    if (wish) ask(wish);
  }, lookMs);
  process.env.PATH = request.env.PATH;
  asked ??= wishIn(folder);
  let continues = false;
  const turn = endOfTurn(request, () => {
    continues = asked === undefined;
    running?.askToEnd();
  });
  const isAsked = () => asked !== undefined;
  const result = await executed(request, isAsked, (stage) => {
    running = stage;
    if (asked) end();
  });
  const done: SlurmDone = {
    formatVersion: 1,
    ...{ job: basename(folder), id, host: hostname(), node, result },
    ...(continues && asked === undefined && result.kind === "cancelled" ? { continues: true } : {}),
    wrote: fileView(request.work, slurmOutputs),
  };
  clearInterval(looks);
  turn?.abort();
  writeJson(join(folder, "done.json"), done);
  heart.stop();
  process.exitCode = result.kind === "succeeded" ? 0 : 1; // for squeue's readers
}

/** Carries the stage out, unless this node does not suffice for it. Never rejects. */
async function executed(
  request: ExecutionRequest,
  isAsked: () => boolean,
  started: (stage: Running) => void,
): Promise<ExecutionResult> {
  try {
    const { image } = request;
    if (image !== undefined)
      return { kind: "failed", cause: "operator", detail: `a Slurm job cannot run in the image ${image}` };
    const gpus = grantedGpus(request);
    const { host = {} } = request.booked ?? {};
    // the facts of speed ask the GPU's driver, which may take seconds
    const other = otherHost(host, { ...("cpu" in host && hostFacts()), processor: processorClass() });
    if (other) return { kind: "failed", cause: "operator", detail: other };
    if ("trouble" in gpus) return { kind: "failed", cause: "machine", detail: gpus.trouble };
    giveGpus(request, gpus);
    const grace = request.relay ? { graceMs: sealTimes.kill } : {};
    const local = localExecutor(request.root, { python: null, ...grace });
    const running = local.start({ ...request, gpus });
    started(running);
    const result = await running.ended;
    const hasFailed = result.kind === "failed" && result.cause === "exit-code";
    // Slurm signals all processes of a job at once: the stage may end by it before this program hears of it
    if (hasFailed && !isAsked()) await sleep(500);
    await local.close?.();
    return hasFailed && isAsked() ? { kind: "cancelled" } : result;
  } catch (error) {
    return { kind: "failed", cause: "machine", detail: (error as Error).message };
  }
}

/** Claims the folder for this job. Undefined if it is another's. */
function begin(folder: string, place: { id: string; host: string; node: string }) {
  const file = join(folder, "request.json");
  const text = ifReadable(() => readFileSync(file, "utf8"));
  if (text === undefined) return undefined;
  const request = JSON.parse(text) as ExecutionRequest;
  const claim: SlurmClaim = { kind: "begun", formatVersion: 1, ...place };
  if (request.relay) {
    const relay = makeRelayFolder();
    process.on("exit", () => rmSync(relay, { recursive: true, force: true }));
    claim.relay = join(relay, "sock");
    request.env[relayVariable] = claim.relay;
  }
  if (!createOnce(join(folder, "claim.json"), claim)) return undefined;
  // it holds the stage's variables; of an attempt's secrets it has placeholders, and the next job needs it
  if (!request.relay) rmSync(file);
  return request;
}

/** Calls `end` once the attempt is to go on in another job: with no model call in flight, if one ends in time. */
function endOfTurn({ turnMs, work }: ExecutionRequest, end: () => void): AbortController | undefined {
  if (turnMs === undefined) return undefined;
  const over = new AbortController();
  const waitMs = Math.min(60_000, turnMs / 4);
  void (async () => {
    await sleep(Math.max(0, turnMs - performance.now()), undefined, { signal: over.signal });
    const late = performance.now() + waitMs;
    const calls = () => lastSpending(join(work, "spending.jsonl"))?.inFlight !== undefined;
    while (calls() && performance.now() < late) await sleep(100, undefined, { signal: over.signal });
    end();
  })().catch(() => {}); // the stage ended first
  return over;
}

/** The step of an attempt gives the devices to its sandbox; its context was written where they were not known. */
function giveGpus({ relay, env }: ExecutionRequest, gpus: readonly Gpu[]): void {
  if (!relay || gpus.length === 0) return;
  const context = JSON.parse(readFileSync(env.MLRB_STAGE!, "utf8")) as StageContext;
  const { sandbox } = context;
  writeJson(env.MLRB_STAGE!, { ...context, ...(sandbox && { sandbox: { ...sandbox, gpus } }) });
}

/** Between two looks for a wish, and between two signs of life. */
const lookMs = 1_000;

/** What the runner wishes. A folder that a run has cleared is a wish too: there is no use of a result. */
function wishIn(folder: string): "TERM" | "USR2" | undefined {
  try {
    readdirSync(folder); // a client of NFS asks its server for new files
    statSync(join(folder, "claim.json"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "USR2" : undefined;
  }
  const reading = ifReadable(() => readFormat(slurmEnd, readFileSync(join(folder, "end.json"), "utf8")));
  return reading?.kind === "ok" ? reading.value.signal : undefined;
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
