// Signals that something changed in the folders that a plan reads; stat finds the change itself. A missed, doubled
// or reordered event is therefore harmless. File systems without events (network mounts) are checked every few
// seconds.
import { join } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import type { Mailbox } from "../run/mailbox.ts";

/** Written by the runner, git and interpreters. */
const ignoredNames = new Set([".mlrb", "node_modules", ".git", "__pycache__", ".ruff_cache"]);

const lookAgainMs = 3000;

export type Trouble = (message: string) => void;

export class WatchFolders {
  readonly #repository: string;
  readonly #mailbox: Mailbox;
  readonly #trouble: Trouble;
  #watcher: FSWatcher | undefined;
  #places: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(repository: string, { mailbox, trouble }: { mailbox: Mailbox; trouble: Trouble }) {
    this.#repository = repository;
    this.#mailbox = mailbox;
    this.#trouble = trouble;
  }

  /** Resolves once all later changes are signalled. `paths`: from the repository's root. */
  async watch(paths: string[]): Promise<void> {
    const places = placesOf(paths);
    if (places.join("\n") === this.#places.join("\n")) return;
    await this.#watcher?.close();
    this.#places = places;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watcher = watch(
      places.map((place) => join(this.#repository, place)),
      { ignoreInitial: true, followSymlinks: false, ignored: (path) => this.#ignores(path) },
    )
      .on("all", () => this.#mailbox.put())
      .on("ready", resolve)
      .on("error", (error) => this.#lookAgain(error as NodeJS.ErrnoException));
    await promise;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#watcher?.close();
  }

  #ignores(path: string): boolean {
    const inside = path.slice(this.#repository.length + 1);
    return inside.split("/").some((name) => ignoredNames.has(name)) || /^results(\/|$)/.test(inside);
  }

  #lookAgain({ code, message }: NodeJS.ErrnoException): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#mailbox.put(), lookAgainMs);
    const help =
      code === "ENOSPC"
        ? "; raise fs.inotify.max_user_watches to be notified at once"
        : code === "EMFILE"
          ? "; raise the limit of open files (ulimit -n) to be notified at once"
          : "";
    this.#trouble(`not notified of every edit (${message}); checks every ${lookAgainMs / 1000} s${help}`);
  }
}

/** The top-level folders and files of the repository that hold `paths`: new files in them are noticed too. */
export function placesOf(paths: string[]): string[] {
  const tops = new Set(paths.map((path) => path.split("/")[0]!));
  if ([...tops].some((top) => /[*?[{]/.test(top))) return ["."];
  return [...tops].filter((top) => top !== ".." && top !== "").sort();
}
