// The facts of the machine on which results depend. A measurement of speed or memory depends on the whole machine:
// these facts are part of the key of `hostSensitive` stages, so that a number measured on one machine is never
// reused on another. The last digits of arithmetic depend on the instructions that libraries choose.
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { quiet } from "@mlrb/kit/processes/process-table";
import { gpuNames } from "../leases/gpu-inventory.ts";

/** The platform that programs are built for; part of the key of an environment. */
export function hostKind(): { platform: string; arch: string } {
  return { platform: process.platform, arch: process.arch };
}

/** By which PyTorch and its libraries choose their code for arithmetic (ATen, oneDNN, MKL). */
const instructions = (
  "avx2 fma avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 avx512_fp16 avx_vnni " +
  "amx_bf16 amx_int8 amx_fp16 sve sve2 bf16 i8mm asimddp"
).split(" ");

/**
 * The class of processors that give the same digits: the vendor, which some libraries ask for, and the sets of
 * instructions. `cpuinfo` is the text of /proc/cpuinfo; without it the class is `unknown`.
 */
export function processorClassOf(cpuinfo: string): string {
  const field = (pattern: RegExp) => pattern.exec(cpuinfo)?.[1]?.trim();
  const flags = new Set(field(/^(?:flags|Features)\s*:(.*)$/m)?.split(/\s+/) ?? []);
  const vendor = field(/^(?:vendor_id|CPU implementer)\s*:(.*)$/m) ?? "unknown";
  return [vendor, ...instructions.filter((name) => flags.has(name))].join(" ");
}

let processor: string | undefined;

/** Of this host. Read once per process. */
export function processorClass(): string {
  processor ??= processorClassOf(quiet(() => readFileSync("/proc/cpuinfo", "utf8")) ?? "");
  return `${process.arch} ${processor}`;
}

let facts: Record<string, string> | undefined;

/** Read once per process. */
export function hostFacts(): Record<string, string> {
  facts ??= hostFactsOf({
    ...hostKind(),
    models: cpus().map(({ model }) => model),
    cpus: availableParallelism(),
    // a container may have less memory than the machine; without a limit the value is 0 or more than all memory
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    gpus: gpuNames(),
  });
  return facts;
}

export type Host = {
  platform: string;
  arch: string;
  /** The model of each CPU, as the system reports it. */
  models: string[];
  /** Number of usable CPUs. */
  cpus: number;
  memoryBytes: number;
  /** The name of each GPU. */
  gpus: string[];
};

/**
 * Returns the facts as texts by name. Memory is in whole GiB, rounded down, because the bytes that a kernel
 * reserves vary with its version. Equal names appear once, with their count.
 */
export function hostFactsOf(host: Host): Record<string, string> {
  const models = [...new Set(host.models.map(plain))].sort().join(" + ");
  return {
    platform: host.platform,
    arch: host.arch,
    cpu: models === "" ? "unknown" : models,
    cpus: String(host.cpus),
    memoryGiB: String(Math.floor(host.memoryBytes / 2 ** 30)),
    ...(host.gpus.length > 0 && { gpus: counted(host.gpus.map(plain)) }),
  };
}

/** Normalizes spaces: kernels pad names with spaces in different ways. */
function plain(name: string): string {
  return name.trim().replace(/\s+/g, " ");
}

/** Returns e.g. `2 × A, 1 × B`, sorted by name, because each driver numbers devices in its own order. */
function counted(names: string[]): string {
  const counts = Map.groupBy(names.sort(), (name) => name);
  return [...counts].map(([name, { length }]) => `${length} × ${name}`).join(", ");
}
