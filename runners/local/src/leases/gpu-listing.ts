// Parses the output of nvidia-smi, of many driver versions. A line that cannot be parsed is left out and reported, never
// guessed.
// Pure.
import type { Gpu } from "@mlrb/core/ports/gpu";

export type Listed = { index: number; model: string; uuid: string; slices: Slice[] };
type Slice = { profile: string; uuid: string };

/**
 * What `nvidia-smi -L` lists: one line a GPU; the slices that one is divided into are indented below it.
 * `trouble` holds its other lines, e.g. about a GPU that has fallen off the bus.
 */
export function readListing(text: string): { gpus: Listed[]; trouble: string[] } {
  const gpus: Listed[] = [];
  const trouble: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const gpu = /^GPU (\d+): (.+?) \(UUID: ([^()\s]+)\)\s*$/.exec(line);
    const slice = /^\s+MIG (\S+)\s+Device\s+\d+: \(UUID: ([^()\s]+)\)\s*$/.exec(line);
    if (gpu) gpus.push({ index: Number(gpu[1]), model: gpu[2]!, uuid: gpu[3]!, slices: [] });
    else if (slice && gpus.length > 0) gpus.at(-1)!.slices.push({ profile: slice[1]!, uuid: slice[2]! });
    else if (line.trim() !== "") trouble.push(plain(line));
  }
  return { gpus, trouble };
}

/** Lines of `--format=csv,noheader,nounits`, fields by name; of a name with commas in it, all of it. */
export function readTable<Field extends string>(text: string, fields: readonly Field[], open?: Field) {
  const rows: Record<Field, string>[] = [];
  const at = open === undefined ? fields.length - 1 : fields.indexOf(open);
  for (const line of text.split(/\r?\n/)) {
    const cells = line.split(",").map((cell) => cell.trim());
    const more = cells.length - fields.length;
    if (more < 0 || line.trim() === "") continue; // no row: a driver's word between them
    cells.splice(at, more + 1, cells.slice(at, at + more + 1).join(", "));
    rows.push(Object.fromEntries(fields.map((field, index) => [field, cells[index]!])) as (typeof rows)[0]);
  }
  return rows;
}

export const gpuFields = ["uuid", "memory.total", "driver_version"] as const;

/** The devices that can be held: GPUs, and of one that is divided its slices in its place. */
export function gpusIn(listed: Listed[], table: string): Gpu[] {
  const rows = new Map(readTable(table, gpuFields).map((row) => [row.uuid, row]));
  return listed.flatMap(({ index, model, uuid, slices }) => {
    const row = rows.get(uuid);
    const driver = /^\d[\w.-]*$/.exec(row?.driver_version ?? "")?.[0] ?? "";
    const mib = /^\d+$/.test(row?.["memory.total"] ?? "") ? Number(row!["memory.total"]) : 0;
    const whole: Gpu = { index, uuid, model: plain(model), memoryBytes: mib * 2 ** 20, driver, slice: false };
    if (slices.length === 0) return [whole];
    return slices.map(({ profile, uuid: own }) => ({
      ...whole,
      uuid: own,
      model: `${whole.model} MIG ${profile}`,
      memoryBytes: Number(/\.(\d+)gb/.exec(profile)?.[1] ?? 0) * 2 ** 30,
      slice: true,
    }));
  });
}

/**
 * The devices that CUDA_VISIBLE_DEVICES leaves: numbers or UUIDs, or their beginnings, in any order; as for
 * CUDA, all entries after one that does not exist are ignored. `parents`: the GPU of each slice.
 */
export function narrowed(gpus: Gpu[], visible: string | undefined, parents: Map<string, string>): Gpu[] {
  if (visible === undefined) return gpus;
  const left: Gpu[] = [];
  for (const name of visible.split(",").map((one) => one.trim())) {
    const found = gpus.filter(({ index, uuid }) =>
      /^\d+$/.test(name)
        ? index === Number(name)
        : /^(GPU|MIG)-/.test(name) && (uuid.startsWith(name) || (parents.get(uuid) ?? "").startsWith(name)),
    );
    if (found.length === 0) break;
    left.push(...found.filter((gpu) => !left.includes(gpu)));
  }
  return left.sort((a, b) => gpus.indexOf(a) - gpus.indexOf(b));
}

/** Another program's words: nothing in them may steer a terminal. */
export function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 200);
}
