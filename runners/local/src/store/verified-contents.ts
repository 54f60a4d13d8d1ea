// Remembers by stat which large contents were read and found sound. Reading four gigabytes again before each stage
// that needs them would take longer than the stage. A later change of a content changes its stat. `cache verify`,
// which reads all contents, finds damage that does not.
import { statSync } from "node:fs";
import { join } from "node:path";
import { MemoryFile } from "./memory-file.ts";

export class VerifiedContents {
  readonly #known: MemoryFile<{ contents: Record<string, string> }>;

  constructor(memory: string) {
    this.#known = new MemoryFile(join(memory, "verified.json"), 1, { contents: {} });
  }

  /** Whether the content at `path` is unchanged since it was verified. */
  holds(digest: string, path: string): boolean {
    return this.#known.value.contents[digest] === statText(path);
  }

  /** Must be called only with contents that have just been read in full. */
  add(contents: readonly { digest: string; path: string }[]): void {
    for (const { digest, path } of contents) this.#known.value.contents[digest] = statText(path);
    this.#known.change();
    this.#known.save();
  }
}

/** Omits ctime, because a new link to the content changes it. */
function statText(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
}
