// Tells that something moved in the folders a plan reads from; what it was, is found by looking. So an event
// that is missed, doubled or out of order can do no harm, and a file system that tells nothing (a network's)
// is looked at every few seconds.
import { join } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import type { Mailbox } from "./mailbox.ts";

/** What the runner, git and interpreters write. */
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

  /** Settles when all that moves from now on is told. `paths` are from the repository's root. */
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

/** The repository's own folders and files that hold them: what is new anywhere in there is noticed. */
export function placesOf(paths: string[]): string[] {
  const tops = new Set(paths.map((path) => path.split("/")[0]!));
  if ([...tops].some((top) => /[*?[{]/.test(top))) return ["."];
  return [...tops].filter((top) => top !== ".." && top !== "").sort();
}
