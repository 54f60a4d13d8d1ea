// The executors of one run, each loaded when the first stage needs it.

import type { Executor } from "@mlrb/core/ports/executor";
import { clearDeadWork, executorsLeft, markElsewhere, type WorkFolder } from "../stage/work-folders.ts";
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
    // containers and jobs may outlive this run; the mark makes the next run search for them
    if (name !== "local") markElsewhere(folder.path, name);
    this.#loaded.set(name, held);
    return held;
  }

  /**
   * Ends the containers and jobs that dead runs left, and clears their folders. Those that this run adopted stay.
   * Where an executor cannot answer now, the next run tries again.
   */
  async clearElsewhere(): Promise<void> {
    const { work } = this.#at.state;
    const cleared: string[] = [];
    for (const name of executorsLeft(work))
      if (name in this.#load && (await (await this.of(name)).clearLeft?.())) cleared.push(name);
    if (cleared.length > 0) await clearDeadWork(work, { cleared });
  }

  async close(): Promise<void> {
    for (const executor of this.#loaded.values()) await (await executor).close?.();
  }
}
