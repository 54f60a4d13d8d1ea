// The running container of one sandbox: holds all programs of an attempt and says how each ended.
// A program inside cannot end the container. If the engine, a person or the machine ends it, the result is `lost`
// and never counts as the agent's doing.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecRequest, ExecResult, OverLimit, WallsRequest } from "@mlrb/core/ports/sandbox";
import { extractDiskImage, hasDiskImage } from "@mlrb/kit/files/disk-image";
import { type DiskLook, diskLimit } from "@mlrb/kit/files/disk-limit";
import { overLimits } from "@mlrb/kit/processes/over-limits";
import { pollGently } from "@mlrb/kit/processes/poll-gently";
import { stateOf } from "./container-end.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { type ContainerGroup, containerGroup } from "./container-group.ts";
import { type ContainerGuard, guardContainer } from "./container-guard.ts";
import type { ContainerImage } from "./ensure-image.ts";
import { type ProgramEnd, type ProgramInContainer, runInContainer } from "./program-in-container.ts";
import { sandboxCreation } from "./sandbox-flags.ts";

export type SandboxPlace = {
  engine: ContainerEngine;
  request: WallsRequest;
  image: ContainerImage;
  /** `UID:GID` of the programs. */
  user: string;
};

/** The engine may be restarting: one try a second. */
const thawTries = 60;
const engineMs = 20_000;
/** Between two measurements of the disk. */
const pauseMs = 250;

export class SandboxContainer {
  readonly #place: SandboxPlace;
  readonly #id: string;
  readonly #guard: ContainerGuard;
  readonly #group: ContainerGroup;
  /**
   * No engine limits the files in a folder of the host. Where the folder is no file system of its own, a program
   * may write more between two measurements.
   */
  readonly #disk: Promise<DiskLook>;
  readonly #metering = new AbortController();
  readonly #programs = new Set<ProgramInContainer>();
  #running = true;
  /** `end` was called. */
  #endedHere = false;
  /** The limit for which the container was ended. */
  #over: OverLimit | undefined;

  /** Creates and starts the container. Throws with the reason if the engine refuses. */
  static async open(place: SandboxPlace): Promise<SandboxContainer> {
    const { engine, request, image } = place;
    const called = async (args: string[]) => {
      const result = await engine.call(args);
      if (!result.ok)
        throw new Error(`the sandbox could not be opened (${args[0]}): ${result.trouble.detail}`);
      return result.stdout.trim();
    };
    const id = (await called(sandboxCreation(engine, request, image))).split("\n").at(-1)!;
    const guard = guardContainer(engine, id);
    const trouble = await guard.ready;
    if (trouble) throw new Error(`the sandbox could not be opened: ${trouble.failed}`);
    const pid = Number(await called(["inspect", "--format", "{{.State.Pid}}", id]));
    const container = new SandboxContainer(place, id, guard, containerGroup(pid, id));
    if (!hasDiskImage(request.folder) || showsSame(request, pid)) return container;
    // the engine has other mounts than this process, as in a container: its programs would see an empty folder
    await container.end();
    await container.removed();
    await extractDiskImage(request.folder);
    return SandboxContainer.open(place);
  }

  private constructor(place: SandboxPlace, id: string, guard: ContainerGuard, group: ContainerGroup) {
    this.#place = place;
    this.#id = id;
    this.#guard = guard;
    this.#group = group;
    const { folder, limits } = place.request;
    this.#disk = diskLimit(folder, { limitBytes: limits.diskBytes, find: group.pids });
    const { signal } = this.#metering;
    const poll = async () => {
      const over = await (await this.#disk)();
      if (!over || signal.aborted) return;
      this.#over ??= over;
      void this.end().catch(() => {}); // `kill` reports the same trouble
    };
    void pollGently(poll, { pauseMs, signal });
    void guard.ended.then((state) => {
      this.#running = false;
      this.#metering.abort();
      // a full shared memory can make the kernel end the first process too
      if (state?.OOMKilled && !this.#endedHere) this.#over ??= overLimits.memory(limits);
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** Whether the container ended because its programs met a limit. */
  get endedForLimit(): boolean {
    return !this.#running && this.#over !== undefined;
  }

  async run(asked: ExecRequest): Promise<ExecResult> {
    const { engine, request, user } = this.#place;
    const before = this.#group.met();
    const program = runInContainer(engine, { id: this.#id, user, request: asked });
    this.#programs.add(program);
    const ended = await program.ended;
    this.#programs.delete(program);
    const after = this.#group.met();
    if (!this.#endedHere) {
      // counts what the program wrote just before its end
      const disk = await (await this.#disk)();
      if (disk) {
        this.#over ??= disk;
        await this.end();
      }
    }
    const over =
      this.#over ??
      (after.memory > before.memory ? overLimits.memory(request.limits) : undefined) ??
      (after.processes > before.processes ? overLimits.processes(request.limits) : undefined);
    const met = over && { over };
    if (this.#endedHere) return { kind: "signalled", signal: "SIGKILL", ...met };
    const gone = ended.kind === "exited" && ended.code === 0 ? undefined : await this.#whyGone(ended);
    if (this.#over) return { kind: "signalled", signal: "SIGKILL", over: this.#over };
    if (gone !== undefined) return { kind: "lost", detail: gone };
    if (ended.kind === "missing")
      return { kind: "not-started", detail: "there is no such program in the sandbox" };
    if (ended.kind !== "not-begun") return { ...ended, ...met };
    if (over) return { kind: "exited", code: 126, over };
    return { kind: "not-started", detail: ended.said || "the engine does not say why" };
  }

  /** Why the container no longer runs; undefined if it does. */
  async #whyGone(ended: ProgramEnd): Promise<string | undefined> {
    // an engine that removes a container kills its programs first, and reports it as running for a moment more
    const killed = ended.kind === "signalled" && ended.signal === "SIGKILL";
    if (killed) await settled(this.#guard.ended, 500);
    const state = await stateOf(this.#place.engine, this.#id);
    if (!("trouble" in state) && (state.Status === "running" || state.Status === "paused")) return undefined;
    await settled(this.#guard.ended, 2_000);
    this.#running = false;
    if ("trouble" in state && state.trouble.kind !== "container-missing")
      return `the container engine went away under the sandbox: ${state.trouble.detail}`;
    return "the sandbox's container was ended from outside";
  }

  /** Ends every program and the container. Throws if a process does not end. */
  async end(): Promise<void> {
    this.#endedHere = true;
    this.#metering.abort();
    if (this.#running) {
      const killed = await this.#place.engine.call(["kill", this.#id], { timeMs: engineMs });
      // without an engine the processes are still there
      if (!killed.ok && !["container-missing", "not-running"].includes(killed.trouble.kind))
        await this.#group.end();
      this.#guard.release();
      await settled(this.#guard.ended, 20_000);
    }
    if (this.#group.pids().length > 0) await this.#group.end();
    for (const program of this.#programs) program.forget();
  }

  /** Resolves once the ended container is removed, after 20 s at most. */
  async removed(): Promise<void> {
    await settled(this.#guard.removed, 20_000);
  }

  /** False if the container could not be paused; its programs then run on. */
  async pause(): Promise<boolean> {
    if (!this.#running) return true;
    const { engine } = this.#place;
    // an engine starts nothing in a paused container: wait for programs that are being started
    await settled(Promise.all([...this.#programs].map((program) => program.begun)), 10_000);
    const paused = await engine.call(["pause", this.#id], { timeMs: engineMs });
    if (paused.ok || !this.#running) return true;
    await engine.call(["unpause", this.#id], { timeMs: engineMs }); // the engine may have paused it too late
    return false;
  }

  /** Throws if the container stays paused. */
  async unpause(): Promise<void> {
    for (let round = 0; this.#running; round++) {
      const thawed = await this.#place.engine.call(["unpause", this.#id], { timeMs: engineMs });
      if (thawed.ok || !(await this.#isPaused())) return;
      if (round === thawTries) throw new Error(`the sandbox could not be unpaused: ${thawed.trouble.detail}`);
      await sleep(1000);
    }
  }

  async #isPaused(): Promise<boolean> {
    const state = await stateOf(this.#place.engine, this.#id);
    // an engine that does not answer is asked again
    return "trouble" in state ? state.trouble.kind !== "container-missing" : state.Status === "paused";
  }
}

/** Waits for `promise`, `ms` at most. */
async function settled(promise: Promise<unknown>, ms: number): Promise<void> {
  await Promise.race([promise, sleep(ms, undefined, { ref: false })]);
}

/** Whether the container with this first process shows the folder that this process sees. */
function showsSame({ folder, seenAs }: WallsRequest, pid: number): boolean {
  const [there, here] = [statSync(`/proc/${pid}/root${seenAs}`), statSync(folder)];
  return there.dev === here.dev && there.ino === here.ino;
}
