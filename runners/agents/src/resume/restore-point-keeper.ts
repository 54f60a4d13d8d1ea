// Keeps restore points of the sandbox's files in the attempt's folder, for a restart without them: the files may
// be on a disk that does not outlive its host. Takes at most 2 % of the time of the budget. An attempt never fails
// for them.
import { readdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { RestorePoint, RestorePointEntry } from "@mlrb/formats/attempt/restore-point";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { leftRestorePoint, restorePointContents } from "@mlrb/kit/attempts/left-restore-point";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { execa } from "execa";

type KeeperOptions = {
  sandbox: Pick<Sandbox, "restorePoint">;
  /** Of the attempt's restore points. */
  folder: string;
  folders: readonly string[];
  without: readonly string[];
  pauseMs: number;
  /** Where the trajectory is, and the working time. */
  now(): { after: number; workingMs: number };
  write(event: TrajectoryEvent): void;
};

/** Of the time between two restore points. */
const shareMost = 0.02;
const keptMax = 2;

export class RestorePointKeeper {
  readonly #options: KeeperOptions;
  readonly #over = new AbortController();
  #kept: { name: string; entries: readonly RestorePointEntry[] }[] = [];
  #count: number;
  #contents = 0;
  #notBefore: number;
  #running: Promise<void> | undefined;
  #skipped = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#notBefore = options.now().workingMs + options.pauseMs;
    const left = leftRestorePoint(options.folder);
    this.#count = left ? Number(left.name) : 0;
    if (left) this.#kept = [{ name: left.name, entries: left.restorePoint.entries }];
  }

  /** Begins a restore point if one is due, while the agent works. */
  look(): void {
    const { now } = this.#options;
    if (this.#running || now().workingMs < this.#notBefore || !this.#options.sandbox.restorePoint) return;
    this.#running = this.#take()
      .catch(() => {}) // a full disk: the look at the trajectory says so
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Ends a restore point that is being taken. */
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
      const file: RestorePoint = { formatVersion: 1, ...at, entries: taken.entries };
      await execa("sync", ["--file-system", restorePointContents(folder)], { reject: false });
      writeWhole(join(folder, `${name}.json`), canonicalJson(file));
      const durationMs = Math.round(performance.now() - began);
      const { copiedBytes, torn, entries } = taken;
      write({
        event: "restore-point",
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
    const contents = restorePointContents(folder);
    await mkdir(contents, { recursive: true });
    this.#thin(); // what an earlier supervisor left: its contents have numbers that no restore point names
    for (const name of readdirSync(contents)) this.#contents = Math.max(this.#contents, Number(name));
    return sandbox.restorePoint!({
      ...{ contents, folders, without, before: this.#kept.at(-1)?.entries ?? [], signal: this.#over.signal },
      newContent: () => String(++this.#contents).padStart(8, "0"),
    });
  }

  /** Removes all but the newest restore points, and contents that these do not hold, as of a copy that was cut short. */
  #thin(): void {
    const { folder } = this.#options;
    this.#kept = this.#kept.slice(-keptMax);
    const names = new Set(this.#kept.map(({ name }) => `${name}.json`));
    for (const name of readdirSync(folder))
      if (name.endsWith(".json") && !names.has(name)) rmSync(join(folder, name), { force: true });
    const held = new Set(this.#kept.flatMap(({ entries }) => entries.map(({ content }) => content)));
    const contents = restorePointContents(folder);
    for (const name of readdirSync(contents))
      if (!held.has(name)) rmSync(join(contents, name), { force: true });
  }

  #skip(because: string): void {
    if (because !== this.#skipped) this.#options.write({ event: "restore-point-skipped", because });
    this.#skipped = because;
  }
}
