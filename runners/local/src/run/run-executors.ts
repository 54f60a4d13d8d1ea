// The executors of one run, each loaded when the first stage needs it.

import type { Executor } from "@mlrb/core/ports/executor";
import { clearDeadWork, leftContainers, markContainers, type WorkFolder } from "../stage/work-folders.ts";
import type { StateFolder } from "../store/state-folder.ts";
import type { RunOptions } from "./run-request.ts";

type Place = { run: string; state: StateFolder; folder: WorkFolder };

export class RunExecutors {
  readonly #load: RunOptions["executors"];
  readonly #at: Place;
  readonly #loaded = new Map<string, Promise<Executor>>();

  constructor(load: RunOptions["executors"], at: Place) {
    this.#load = load;
    this.#at = at;
  }

  of(name: string): Promise<Executor> {
    const { run, state, folder } = this.#at;
    const held = this.#loaded.get(name) ?? this.#load[name]!({ run, state });
    // containers may outlive this run; the mark makes the next run search for them
    if (name !== "local") markContainers(folder.path);
    this.#loaded.set(name, held);
    return held;
  }

  /**
   * Ends the containers that dead runs left, and clears their folders. Containers that this run adopted stay. Where
   * an executor cannot answer now, the next run tries again.
   */
  async clearContainers(): Promise<void> {
    const { work } = this.#at.state;
    if (!leftContainers(work)) return;
    for (const name of Object.keys(this.#load)) {
      if (name === "local") continue;
      if (!(await (await this.of(name)).clearLeft?.())) return;
    }
    await clearDeadWork(work, { containers: true });
  }

  async close(): Promise<void> {
    for (const executor of this.#loaded.values()) await (await executor).close?.();
  }
}
