// The work folders of stages, reused from one stage to the next: making and removing a handful of folders takes
// longer than a short stage. Files of a stage are removed before the next stage gets the folder. A folder that a
// stage changed is not reused.
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { quiet } from "@mlrb/kit/processes/process-table";

/** `in` for inputs, `out` for outputs, `tmp` for the rest; next to them the context and the log of the stage. */
const parts = ["in", "out", "tmp"];

export class WorkSlots {
  readonly #folder: string;
  readonly #free: string[] = [];
  /** The modes of the folders that may be reused, by path. */
  readonly #modes = new Map<string, string>();
  #last = 0;

  /** `folder` is the run's own. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An empty work folder. `in` may hold plain files, which materializing the inputs overwrites or removes. */
  take({ fresh }: { fresh: boolean }): string {
    const held = fresh ? undefined : this.#free.pop();
    if (held !== undefined) return held;
    const path = join(this.#folder, String(++this.#last));
    mkdirSync(path);
    for (const part of parts) mkdirSync(join(path, part));
    if (!fresh) this.#modes.set(path, modesOf(path));
    return path;
  }

  /** Returns a folder for reuse, once no process works in it. */
  give(path: string): void {
    try {
      if (this.#modes.get(path) === modesOf(path)) {
        tidy(path);
        this.#free.push(path);
        return;
      }
    } catch {
      // a part is missing or cannot be emptied
    }
    quiet(() => removeFolder(path)); // else it is removed with the run's folder; the outputs are not affected
  }
}

/** Of a folder and its parts. */
function modesOf(path: string): string {
  return [".", ...parts].map((part) => lstatSync(join(path, part)).mode).join(" ");
}

function tidy(path: string): void {
  for (const part of ["out", "tmp"])
    for (const name of readdirSync(join(path, part))) removeFolder(join(path, part, name));
  for (const name of readdirSync(join(path, "in"))) {
    const stats = lstatSync(join(path, "in", name));
    // a link to a content in the store would let a stage write into the store
    if (!stats.isFile() || stats.nlink > 1 || stats.size > keptBytes) removeFolder(join(path, "in", name));
  }
  for (const name of readdirSync(path)) if (!kept.has(name)) removeFolder(join(path, name));
}

/** Inputs up to this size, in bytes, stay and are overwritten. */
const keptBytes = 1 << 16;

const kept = new Set([...parts, "stage.json", "log"]);
