// Remembers by stat which large contents were read and found sound: reading four gigabytes again before each stage that needs
// them would take longer than the stage. A later change of a content changes its stat; damage that does not is found by
// `cache verify`, which reads all contents.
import { statSync } from "node:fs";
import { join } from "node:path";
import { MemoryFile } from "./memory-file.ts";

export class VerifiedContents {
  readonly #known: MemoryFile<{ contents: Record<string, string> }>;

  constructor(memory: string) {
    this.#known = new MemoryFile(join(memory, "verified.json"), 1, { contents: {} });
  }

  /** Whether the content at `path` is as it was when it was verified. */
  holds(digest: string, path: string): boolean {
    return this.#known.value.contents[digest] === statText(path);
  }

  /** To be called with contents that have just been read through. */
  add(contents: readonly { digest: string; path: string }[]): void {
    for (const { digest, path } of contents) this.#known.value.contents[digest] = statText(path);
    this.#known.change();
    this.#known.save();
  }
}

/** Without the time of its last change of any kind: linking to it moves that. */
function statText(path: string): string {
  const { size, mtimeNs, ino } = statSync(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
}
