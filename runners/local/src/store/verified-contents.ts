// Which large contents were read and found to be what their names say, by their stat: reading four
// gigabytes again before each stage that needs them would take longer than the stage may. What changes
// a content afterwards changes its stat; what does not is found by `cache verify`, which reads all.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";

export class VerifiedContents {
  readonly #file: string;
  #known: Record<string, string> | undefined;

  constructor(memory: string) {
    this.#file = join(memory, "verified.json");
  }

  /** Whether the content at `path` is as it was when it was verified. */
  holds(digest: string, path: string): boolean {
    return this.#load()[digest] === statText(path);
  }

  /** To be called with contents that have just been read through. */
  add(contents: readonly { digest: string; path: string }[]): void {
    const known = this.#load();
    for (const { digest, path } of contents) known[digest] = statText(path);
    try {
      writeWhole(this.#file, canonicalJson({ formatVersion: 1, contents: known }), { sync: false });
    } catch {
      // it only saves time
    }
  }

  #load(): Record<string, string> {
    if (this.#known) return this.#known;
    try {
      const { formatVersion, contents } = JSON.parse(readFileSync(this.#file, "utf8")) as {
        formatVersion: unknown;
        contents?: Record<string, string>;
      };
      this.#known = formatVersion === 1 ? (contents ?? {}) : {};
    } catch {
      this.#known = {}; // none yet, or damaged: everything is read again
    }
    return this.#known;
  }
}

/** Without the time of its last change of any kind: linking to it moves that. */
function statText(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
}
