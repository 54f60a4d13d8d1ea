// Lists the GPUs of this host, as its driver reports them. Queried only if a stage wants a GPU: the driver may
// take seconds to answer, and a host without GPUs has no driver.
import { spawnSync } from "node:child_process";
import type { Instance } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { gpuFields, gpusIn, narrowed, plain, readListing } from "./gpu-listing.ts";

export type Inventory = {
  /** In the driver's order. */
  gpus: Gpu[];
  /** The problem, in words. Undefined without a problem and without a driver. */
  trouble?: string;
};

const answerMs = 60_000;

/** By PATH, which selects the nvidia-smi that runs: its answer does not change while this program runs. */
const known = new Map<string, Inventory & { parents: Map<string, string> }>();

/** Returns the devices that this process may hold: those of the host that CUDA_VISIBLE_DEVICES allows. */
export function gpuInventory(env: NodeJS.ProcessEnv = process.env): Inventory {
  const all = ofHost(env);
  const gpus = narrowed(all.gpus, env.CUDA_VISIBLE_DEVICES, all.parents);
  if (all.gpus.length > 0 && gpus.length === 0)
    return { gpus, trouble: `CUDA_VISIBLE_DEVICES=${plain(env.CUDA_VISIBLE_DEVICES!)} names none of them` };
  return { gpus, ...(all.trouble !== undefined && { trouble: all.trouble }) };
}

/** Returns the models of all devices of this host, in the driver's order. */
export function gpuNames(env: NodeJS.ProcessEnv = process.env): string[] {
  return ofHost(env).gpus.map(({ model }) => model);
}

type Wanting = { execution: { resources: { gpus: number } } };

/** Returns the devices for `instances`. The driver is queried only if one of them wants a GPU. */
export function gpusHere(instances: Iterable<Wanting>, env: NodeJS.ProcessEnv = process.env): Inventory {
  for (const { execution } of instances) if (execution.resources.gpus > 0) return gpuInventory(env);
  return { gpus: [] };
}

export function usesGpusHere(instance: Pick<Instance, "execution">): boolean {
  return runsHere(instance) && instance.execution.resources.gpus > 0;
}

/**
 * Returns the devices suitable for a stage that wants `count`. A process sees at most one slice, so several must
 * be whole GPUs.
 */
export function gpusFor(count: number, gpus: readonly Gpu[]): Gpu[] {
  return gpus.filter(({ slice }) => count <= 1 || !slice);
}

function ofHost(env: NodeJS.ProcessEnv) {
  const key = env.PATH ?? "";
  const inventory = known.get(key) ?? ask(env);
  known.set(key, inventory);
  return inventory;
}

function ask(env: NodeJS.ProcessEnv): Inventory & { parents: Map<string, string> } {
  const none = { gpus: [], parents: new Map<string, string>() };
  const listed = smi(["-L"], env);
  if (listed === undefined) return none;
  const { gpus, trouble } = readListing(listed.text);
  const why = listed.why === undefined ? undefined : (trouble[0] ?? listed.why);
  if (gpus.length === 0) return { ...none, trouble: why ?? trouble[0] ?? "it lists none" };
  if (listed.why !== undefined && !listed.partly) return { ...none, trouble: why! };
  const table = smi([`--query-gpu=${gpuFields.join(",")}`, "--format=csv,noheader,nounits"], env);
  const parents = new Map(gpus.flatMap(({ uuid, slices }) => slices.map((slice) => [slice.uuid, uuid])));
  const words = trouble.join("; ");
  return { gpus: gpusIn(gpus, table?.text ?? ""), parents, ...(words !== "" && { trouble: words }) };
}

/** Exit statuses of nvidia-smi after it listed the devices that answer; see its manual page. */
export const partlyAnswered = [10, 14, 15];

/** Undefined if there is no such program. */
function smi(args: string[], env: NodeJS.ProcessEnv) {
  const answer = spawnSync("nvidia-smi", args, { encoding: "utf8", timeout: answerMs, env });
  const { code } = (answer.error ?? {}) as NodeJS.ErrnoException;
  if (code === "ENOENT") return undefined;
  if (code === "ETIMEDOUT") return { text: "", why: `it did not answer within ${answerMs / 1000} s` };
  if (answer.error) return { text: "", why: plain(answer.error.message) };
  const text = answer.stdout;
  if (answer.status === 0) return { text };
  const said = plain((answer.stderr.trim() || text.trim()).split("\n")[0]!);
  const why = said || `it ended with ${answer.status ?? answer.signal}`;
  return { text, why, partly: partlyAnswered.includes(answer.status ?? -1) };
}
