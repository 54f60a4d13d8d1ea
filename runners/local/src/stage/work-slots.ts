// The work folders of stages, reused from one stage to the next: making and removing a handful of folders takes
// longer than a short stage. Files of a stage are removed before the next stage gets the folder. A folder that a
// stage changed is not reused. A folder that no name came to or went from since it was tidy is not listed again.
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";

/** `in` for inputs, `out` for outputs, `tmp` for the rest; next to them the context and the log of the stage. */
const parts = ["in", "out", "tmp"] as const;

/** Of a folder and its parts: the mode, which must stay, and when the entries last changed. */
type Facts = { mode: bigint; ctimeNs: bigint };

type Slot = { path: string; facts: Facts[]; takenMs: number };

export class WorkSlots {
  readonly #folder: string;
  readonly #free: Slot[] = [];
  readonly #used = new Map<string, Slot>();
  #last = 0;

  /** `folder` is the run's own. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An empty work folder. `in` may hold plain files, which materializing the inputs overwrites or removes. */
  take({ fresh }: { fresh: boolean }): string {
    const takenMs = Date.now();
    const held = fresh ? undefined : this.#free.pop();
    if (held) {
      this.#used.set(held.path, { ...held, takenMs });
      return held.path;
    }
    const path = join(this.#folder, String(++this.#last));
    mkdirSync(path);
    for (const part of parts) mkdirSync(join(path, part));
    if (!fresh) this.#used.set(path, { path, facts: factsOf(path), takenMs });
    return path;
  }

  /** Returns a folder for reuse, once no process works in it. */
  give(path: string): void {
    const slot = this.#used.get(path);
    this.#used.delete(path);
    try {
      const facts = slot && factsOf(path);
      if (slot && facts?.every(({ mode }, index) => mode === slot.facts[index]!.mode)) {
        tidy(path, (part) => isSame(facts[part]!, slot.facts[part]!, slot.takenMs));
        this.#free.push({ ...slot, facts });
      } else removeFolder(path);
    } catch {
      // a folder that cannot be emptied is removed with the run's folder; the outputs are not affected
    }
  }
}

const whole = 0;
/** The indices of the parts in the facts. */
const at = { in: 1, out: 2, tmp: 3 } as const;

function factsOf(path: string): Facts[] {
  return [path, ...parts.map((part) => join(path, part))].map((folder) =>
    lstatSync(folder, { bigint: true }),
  );
}

/** The clock of files is coarse (4 to 10 ms): a change right after `before` would leave the same time. */
const coarseMs = 50;

/** Whether the entries are those of `before`. No program can set a ctime. */
function isSame(now: Facts, before: Facts, takenMs: number): boolean {
  return now.ctimeNs === before.ctimeNs && Number(before.ctimeNs / 1_000_000n) + coarseMs < takenMs;
}

/** `isUnchanged`: by index in the facts, whether the entries are those that the last call left. */
function tidy(path: string, isUnchanged: (index: number) => boolean): void {
  for (const part of ["out", "tmp"] as const) {
    if (isUnchanged(at[part])) continue;
    const folder = join(path, part);
    for (const name of readdirSync(folder)) removeFolder(join(folder, name));
  }
  for (const name of isUnchanged(at.in) ? [] : readdirSync(join(path, "in"))) {
    const stats = lstatSync(join(path, "in", name));
    // a link to a content in the store would let a stage write into the store
    if (!stats.isFile() || stats.nlink > 1 || stats.size > keptBytes) removeFolder(join(path, "in", name));
  }
  if (isUnchanged(whole)) return;
  for (const name of readdirSync(path)) if (!kept.has(name)) removeFolder(join(path, name));
}

/** Inputs up to this size, in bytes, stay and are overwritten. */
const keptBytes = 1 << 16;

const kept = new Set<string>([...parts, "stage.json", "log"]);
