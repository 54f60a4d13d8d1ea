// The device files of leased GPUs, for a process that sees no others. Tested only against doubles of the driver.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Gpu = { index: number; uuid: string; slice?: unknown };

/** Where the driver describes its devices. */
export type GpuDriver = {
  /** /proc/driver/nvidia. */
  folder: string;
  /** What nvidia-smi prints; empty if it fails. */
  ask: (...args: string[]) => string;
};

const hostDriver: GpuDriver = {
  folder: "/proc/driver/nvidia",
  ask: (...args) => spawnSync("nvidia-smi", args, { encoding: "utf8", timeout: 60_000 }).stdout ?? "",
};

/** nvidia-modeset and /dev/dri are left out: they drive displays, and CUDA needs neither. dxg: Windows' driver, in WSL. */
const shared = ["nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "dxg"].map((name) => `/dev/${name}`);

/**
 * The device files of these GPUs and those that all GPUs share; some may not exist. A slice (MIG) has the file of
 * its GPU and the two files that open its instances. `trouble`: the driver does not say which files a GPU has, and
 * a guess could show another one.
 */
export function gpuDevices(
  gpus: readonly Gpu[],
  driver: GpuDriver = hostDriver,
): { files: string[] } | { trouble: string } {
  if (gpus.length === 0) return { files: [] };
  // without the driver's folder, as in WSL, no file belongs to one GPU
  if (!existsSync(join(driver.folder, "gpus")))
    return { files: [...shared, ...gpus.map(({ index }) => `/dev/nvidia${index}`)] };
  const files = new Set(shared);
  for (const gpu of gpus) {
    const own = gpu.slice ? filesOfSlice(gpu.uuid, driver) : filesOfGpu(gpu.uuid, driver);
    if (!own) return { trouble: unknown(gpu.uuid, driver) };
    for (const file of own) files.add(file);
  }
  return { files: [...files] };
}

function filesOfGpu(uuid: string, driver: GpuDriver): string[] | undefined {
  const minor = minorsIn(driver.folder).get(uuid) ?? described(driver).get(uuid)?.minor;
  return minor === undefined ? undefined : [`/dev/nvidia${minor}`];
}

function filesOfSlice(uuid: string, driver: GpuDriver): string[] | undefined {
  const place = placeOf(uuid, driver);
  const parent = place && described(driver).get(place.parent);
  const instance = place && (place.instance ?? parent?.instances.get(place.index));
  if (!parent || !instance) return undefined;
  const folder = join(driver.folder, `capabilities/gpu${parent.minor}/mig/gi${instance.gpu}`);
  const files = [`/dev/nvidia${parent.minor}`];
  for (const path of [join(folder, "access"), join(folder, `ci${instance.compute}/access`)]) {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const minor = /^DeviceFileMinor:\s*(\d+)/m.exec(text)?.[1];
    if (minor === undefined) return undefined;
    files.push(`/dev/nvidia-caps/nvidia-cap${minor}`);
  }
  return files;
}

/** The number of each GPU's device file, which may differ from its index. A GPU that nothing has opened has no UUID yet. */
function minorsIn(folder: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of readdirSync(join(folder, "gpus"))) {
    const text = readFileSync(join(folder, "gpus", name, "information"), "utf8");
    const uuid = /^GPU UUID:\s*(\S+)/m.exec(text)?.[1];
    const minor = /^Device Minor:\s*(\d+)/m.exec(text)?.[1];
    if (uuid !== undefined && minor !== undefined) found.set(uuid, Number(minor));
  }
  return found;
}

type Instance = { gpu: number; compute: number };
type Described = { minor: number; instances: Map<number, Instance> };

/** `nvidia-smi -q`: for each GPU by UUID its number, and the instances of its slices by their index. */
function described({ ask }: GpuDriver): Map<string, Described> {
  const found = new Map<string, Described>();
  for (const text of ask("-q").split(/^(?=GPU [0-9A-Fa-f]+:)/m)) {
    const uuid = /^\s+GPU UUID\s*:\s*(\S+)/m.exec(text)?.[1];
    const minor = /^\s+Minor Number\s*:\s*(\d+)/m.exec(text)?.[1];
    if (uuid === undefined || minor === undefined) continue;
    const slices = text.matchAll(
      /^\s+MIG Device\s+Index\s*:\s*(\d+)\s+GPU Instance ID\s*:\s*(\d+)\s+Compute Instance ID\s*:\s*(\d+)/gm,
    );
    const instances = [...slices].map(
      ([, index, gpu, compute]) => [Number(index), { gpu: Number(gpu), compute: Number(compute) }] as const,
    );
    found.set(uuid, { minor: Number(minor), instances: new Map(instances) });
  }
  return found;
}

/** Before driver 470 a slice's name held its GPU and instances; since then `nvidia-smi -L` lists it below its GPU. */
function placeOf(uuid: string, { ask }: GpuDriver) {
  const old = /^MIG-(GPU-[^/]+)\/(\d+)\/(\d+)$/.exec(uuid);
  if (old) return { parent: old[1]!, index: -1, instance: { gpu: Number(old[2]), compute: Number(old[3]) } };
  let parent = "";
  for (const line of ask("-L").split("\n")) {
    parent = /^GPU \d+: .*\(UUID: (\S+)\)/.exec(line)?.[1] ?? parent;
    const slice = /^\s+MIG \S+\s+Device\s+(\d+): \(UUID: (\S+)\)/.exec(line);
    if (slice?.[2] === uuid) return { parent, index: Number(slice[1]), instance: undefined };
  }
  return undefined;
}

function unknown(uuid: string, { folder }: GpuDriver): string {
  return (
    `the device files of GPU ${uuid} are unknown: ${folder} and \`nvidia-smi -q\` do not name them; ` +
    "check that this user may run nvidia-smi, or use `executor: docker`"
  );
}
