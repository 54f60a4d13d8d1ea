// Which GPUs this host has, as its driver tells. Asked only where something wants one: the driver may take
// seconds to answer, and a host without GPUs has nobody to ask.
import { spawnSync } from "node:child_process";

/** By PATH, which decides who is asked: the answer does not change while the program runs. */
const known = new Map<string, string[]>();

/** The names of this host's GPUs, in the driver's order; empty where there is no driver that answers. */
export function gpuNames(env: NodeJS.ProcessEnv = process.env): string[] {
  const path = env.PATH ?? "";
  let names = known.get(path);
  if (!names) {
    const answer = spawnSync("nvidia-smi", ["-L"], { encoding: "utf8", timeout: 60_000, env });
    names = answer.status === 0 ? namesIn(answer.stdout) : [];
    known.set(path, names);
  }
  return names;
}

/** What `nvidia-smi -L` lists: one line a GPU; the parts that one is divided into are indented below it. */
export function namesIn(listed: string): string[] {
  return [...listed.matchAll(/^GPU \d+: (.+?)(?: \(UUID: .*\))?\s*$/gm)].map((match) => match[1]!);
}

type Wanting = { execution: { resources: { gpus: number } } };

/** How many GPUs this host has for `instances`. Where none of them wants any, nobody is asked. */
export function gpuCount(instances: Iterable<Wanting>, env: NodeJS.ProcessEnv = process.env): number {
  for (const { execution } of instances) if (execution.resources.gpus > 0) return gpuNames(env).length;
  return 0;
}
