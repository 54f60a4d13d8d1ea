// Parses the output of nvidia-smi, for many driver versions. A line that cannot be parsed is omitted and reported,
// never guessed.
// Pure.
import type { Gpu } from "@mlrb/core/ports/gpu";

export type Listed = { index: number; model: string; uuid: string; slices: Slice[] };
type Slice = { profile: string; uuid: string };

/**
 * Parses `nvidia-smi -L`: one line per GPU, with the GPU's slices indented below. `trouble` holds the other lines,
 * e.g. about a GPU that has fallen off the bus.
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

/** Parses lines of `--format=csv,noheader,nounits` into fields by name. `open`: the field that may contain commas. */
export function readTable<Field extends string>(text: string, fields: readonly Field[], open?: Field) {
  const rows: Record<Field, string>[] = [];
  const at = open === undefined ? fields.length - 1 : fields.indexOf(open);
  for (const line of text.split(/\r?\n/)) {
    const cells = line.split(",").map((cell) => cell.trim());
    const more = cells.length - fields.length;
    if (more < 0 || line.trim() === "") continue; // not a row: a message of the driver
    cells.splice(at, more + 1, cells.slice(at, at + more + 1).join(", "));
    rows.push(Object.fromEntries(fields.map((field, index) => [field, cells[index]!])) as (typeof rows)[0]);
  }
  return rows;
}

export const gpuFields = ["uuid", "memory.total", "driver_version"] as const;

/** Returns the devices that can be held: GPUs, and for a divided GPU its slices instead. */
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
 * Returns the devices that CUDA_VISIBLE_DEVICES allows: numbers, UUIDs or UUID prefixes, in any order. As in CUDA,
 * all entries after a missing device are ignored. `parents`: the GPU of each slice.
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

/** Sanitizes another program's text, which must not control a terminal. */
export function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 200);
}
