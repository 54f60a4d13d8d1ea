// The work folders of stages, reused from one stage to the next: making and removing a handful of folders takes
// longer than a short stage. Files of a stage are removed before the next stage gets the folder. A folder that a
// stage changed is not reused.
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";

/** `in` for inputs, `out` for outputs, `tmp` for the rest; next to them the context and the log of the stage. */
const parts = ["in", "out", "tmp"] as const;

export class WorkSlots {
  readonly #folder: string;
  readonly #free: { path: string; modes: number[] }[] = [];
  readonly #used = new Map<string, number[]>();
  #last = 0;

  /** `folder` is the run's own. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An empty work folder. `in` may hold plain files, which materializing the inputs overwrites or removes. */
  take({ fresh }: { fresh: boolean }): string {
    const held = fresh ? undefined : this.#free.pop();
    if (held) {
      this.#used.set(held.path, held.modes);
      return held.path;
    }
    const path = join(this.#folder, String(++this.#last));
    mkdirSync(path);
    for (const part of parts) mkdirSync(join(path, part));
    if (!fresh) this.#used.set(path, modesOf(path));
    return path;
  }

  /** Returns a folder for reuse, once no process works in it. */
  give(path: string): void {
    const modes = this.#used.get(path);
    this.#used.delete(path);
    try {
      if (modes && isAsMade(path, modes)) {
        tidy(path);
        this.#free.push({ path, modes });
      } else removeFolder(path);
    } catch {
      // a folder that cannot be emptied is removed with the run's folder; the outputs are not affected
    }
  }
}

function modesOf(path: string): number[] {
  return [path, ...parts.map((part) => join(path, part))].map((folder) => lstatSync(folder).mode);
}

function isAsMade(path: string, modes: number[]): boolean {
  return modesOf(path).every((mode, index) => mode === modes[index]);
}

function tidy(path: string): void {
  for (const part of ["out", "tmp"]) {
    const folder = join(path, part);
    for (const name of readdirSync(folder)) removeFolder(join(folder, name));
  }
  for (const name of readdirSync(join(path, "in"))) {
    const stats = lstatSync(join(path, "in", name));
    // a link to a content in the store would let a stage write into the store
    if (!stats.isFile() || stats.nlink > 1 || stats.size > keptBytes) removeFolder(join(path, "in", name));
  }
  for (const name of readdirSync(path)) if (!kept.has(name)) removeFolder(join(path, name));
}

/** Inputs up to this size, in bytes, stay and are overwritten. */
const keptBytes = 1 << 16;

const kept = new Set<string>([...parts, "stage.json", "log"]);
