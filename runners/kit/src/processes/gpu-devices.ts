// The device files of leased GPUs, for a process that sees no others. Tested only against doubles.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Gpu = { index: number; uuid: string; slice?: unknown };

/** The devices of these GPUs and those that all GPUs share; some may not exist. */
export function gpuDevices(gpus: readonly Gpu[]): string[] {
  if (gpus.length === 0) return [];
  return [
    ...["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"],
    ...gpus.map((gpu) => `/dev/nvidia${minorOf(gpu)}`),
    ...(gpus.some(({ slice }) => slice) ? ["/dev/nvidia-caps"] : []),
  ];
}

/** The number of its device, which may differ from its index. */
function minorOf(gpu: Gpu): number {
  const folder = "/proc/driver/nvidia/gpus";
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const text = readFileSync(join(folder, name, "information"), "utf8");
    const minor = /^Device Minor:\s*(\d+)/m.exec(text)?.[1];
    if (minor !== undefined && text.includes(gpu.uuid)) return Number(minor);
  }
  return gpu.index;
}
