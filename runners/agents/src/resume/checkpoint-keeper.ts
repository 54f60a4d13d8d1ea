// Keeps checkpoints of the sandbox's files in the attempt's folder, for a restart without them: the files may be on a
// disk that does not outlive its host. Takes at most 2 % of the time of the budget. An attempt never fails for them.
import { readdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Checkpoint, CheckpointEntry } from "@mlrb/formats/attempt/checkpoint";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkpointContents, leftCheckpoint } from "@mlrb/kit/attempts/left-checkpoint";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { execa } from "execa";

type KeeperOptions = {
  sandbox: Pick<Sandbox, "checkpoint">;
  /** Of the attempt's checkpoints. */
  folder: string;
  folders: readonly string[];
  without: readonly string[];
  pauseMs: number;
  /** Where the trajectory is, and the working time. */
  now(): { after: number; workingMs: number };
  write(event: TrajectoryEvent): void;
};

/** Of the time between two checkpoints. */
const shareMost = 0.02;
const keptMax = 2;

export class CheckpointKeeper {
  readonly #options: KeeperOptions;
  readonly #over = new AbortController();
  #kept: { name: string; entries: readonly CheckpointEntry[] }[] = [];
  #count: number;
  #contents = 0;
  #notBefore: number;
  #running: Promise<void> | undefined;
  #skipped = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#notBefore = options.now().workingMs + options.pauseMs;
    const left = leftCheckpoint(options.folder);
    this.#count = left ? Number(left.name) : 0;
    if (left) this.#kept = [{ name: left.name, entries: left.checkpoint.entries }];
  }

  /** Begins a checkpoint if one is due, beside what the agent does. */
  look(): void {
    const { now } = this.#options;
    if (this.#running || now().workingMs < this.#notBefore || !this.#options.sandbox.checkpoint) return;
    this.#running = this.#take()
      .catch(() => {}) // a full disk: the look at the trajectory says so
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Ends a checkpoint that is being taken. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  async #take(): Promise<void> {
    const { folder, pauseMs, now, write } = this.#options;
    const began = performance.now();
    const at = now();
    try {
      const taken = await this.#copy();
      if (typeof taken === "string") return this.#skip(taken);
      const name = String(++this.#count).padStart(4, "0");
      const file: Checkpoint = { formatVersion: 1, ...at, entries: taken.entries };
      await execa("sync", ["--file-system", checkpointContents(folder)], { reject: false });
      writeWhole(join(folder, `${name}.json`), canonicalJson(file));
      const durationMs = Math.round(performance.now() - began);
      const { copiedBytes, torn, entries } = taken;
      write({
        event: "checkpoint",
        name,
        after: at.after,
        files: entries.length,
        copiedBytes,
        torn,
        durationMs,
      });
      this.#kept.push({ name, entries });
    } catch (error) {
      if (!this.#over.signal.aborted) this.#skip((error as Error).message);
    } finally {
      const took = performance.now() - began;
      this.#notBefore = now().workingMs + Math.max(pauseMs, took / shareMost);
      if (!this.#over.signal.aborted) this.#thin();
    }
  }

  async #copy() {
    const { sandbox, folder, folders, without } = this.#options;
    const contents = checkpointContents(folder);
    await mkdir(contents, { recursive: true });
    this.#thin(); // what an earlier supervisor left: its contents have numbers that no checkpoint names
    for (const name of readdirSync(contents)) this.#contents = Math.max(this.#contents, Number(name));
    return sandbox.checkpoint!({
      ...{ contents, folders, without, before: this.#kept.at(-1)?.entries ?? [], signal: this.#over.signal },
      newContent: () => String(++this.#contents).padStart(8, "0"),
    });
  }

  /** Removes all but the newest checkpoints, and contents that these do not hold, as of a copy that was cut short. */
  #thin(): void {
    const { folder } = this.#options;
    this.#kept = this.#kept.slice(-keptMax);
    const names = new Set(this.#kept.map(({ name }) => `${name}.json`));
    for (const name of readdirSync(folder))
      if (name.endsWith(".json") && !names.has(name)) rmSync(join(folder, name), { force: true });
    const held = new Set(this.#kept.flatMap(({ entries }) => entries.map(({ content }) => content)));
    const contents = checkpointContents(folder);
    for (const name of readdirSync(contents))
      if (!held.has(name)) rmSync(join(contents, name), { force: true });
  }

  #skip(because: string): void {
    if (because !== this.#skipped) this.#options.write({ event: "checkpoint-skipped", because });
    this.#skipped = because;
  }
}
