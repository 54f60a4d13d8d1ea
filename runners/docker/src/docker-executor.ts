// Runs trusted stages in containers. The request names everything that a stage needs besides the repository, so
// the same stage runs on this machine and in a container without a change to its code. A container starts in a
// fifth of a second and does not depend on its runner: a later run finds a dead run's containers by their labels.
import { appendFileSync, lstatSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import { gpuFacts } from "@mlrb/core/ports/gpu";
import type { ContainerState } from "@mlrb/formats/stage/container-state";
import { giveTo, makeReadable } from "@mlrb/kit/files/give-to";
import { type ContainerEngine, containerEngine } from "./container-engine.ts";
import { type EnsuredImage, ensureImage } from "./ensure-image.ts";
import { type LeftContainer, removeContainers, stageContainers } from "./left-containers.ts";
import { ContainerRun, type ToRun } from "./run-container.ts";
import { stageCreation, wallsUser } from "./stage-flags.ts";
import { stageLabels } from "./stage-labels.ts";

export type DockerExecutorOptions = {
  /** The repository. */
  root: string;
  /** Absolute path of `.mlrb`: containers of other state folders are left alone. */
  state: string;
  /** This run's name. */
  run: string;
  /** Whether another run of this state folder is alive: its containers are left to it. */
  isLive: (run: string) => boolean;
  /** Takes a container of a dead run, for good; false if another living run has it. */
  take: (run: string, container: string) => boolean;
  env?: NodeJS.ProcessEnv;
  /** How long to wait for an engine that goes away while a stage runs. */
  patienceMs?: number;
};

/** The outputs of a stage that had a user of its own become this process's user's. */
function takeBack(work: string): void {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const paths = ["out", "tmp", "refusals.jsonl", "log"].map((name) => join(work, name));
  const foreign = (path: string) => (lstatSync(path, { throwIfNoEntry: false })?.uid ?? uid) !== uid;
  if (uid === 0) giveTo(paths.filter(foreign), { uid, gid });
}

const idOf = ({ id }: LeftContainer) => id;

type EngineAnswer = Awaited<ReturnType<typeof containerEngine>>;

export class DockerExecutor implements Executor {
  readonly name = "docker";
  readonly #options: DockerExecutorOptions;
  readonly #images = new Map<string, Promise<EnsuredImage>>();
  readonly #removals = new Set<Promise<void>>();
  #engine: Promise<EngineAnswer> | undefined;
  #left: Promise<Map<string, LeftContainer>> | undefined;

  constructor(options: DockerExecutorOptions) {
    this.#options = options;
  }

  start(request: ExecutionRequest): Running {
    if (request.preload !== undefined)
      appendFileSync(request.log, "mlrb: not forked from a warm process: a container starts a fresh one\n");
    const { walls, limits } = request;
    const memoryBytes = limits.memoryBytes ?? walls?.limits.memoryBytes;
    const held = { ...request, limits: { ...limits, ...(memoryBytes !== undefined && { memoryBytes }) } };
    return this.#run(() => this.#create(held), held);
  }

  async mountsReadOnly(): Promise<boolean> {
    return true;
  }

  async adopt(key: string): Promise<{ work: string; running: Running } | undefined> {
    const left = await this.#leftNow();
    const engine = await this.#engineNow();
    if ("trouble" in engine) return undefined;
    const found = [...left.values()].find((one) => one.key === key && isWorthAdopting(one.state));
    if (!found) return undefined;
    const { id, work, image, state } = found;
    left.delete(id);
    if (!this.#options.take(found.run, id)) return undefined;
    // the time limit counts since its start; a container that has ended did so in time
    const spentMs = state.Status === "running" ? Math.max(0, Date.now() - Date.parse(state.StartedAt)) : 0;
    const ready = { engine, id, begin: false, where: whereOf(engine, image), spentMs };
    return { work, running: this.#run(async () => ready, found) };
  }

  /** Ends and removes containers of dead runs that were not adopted. */
  async clearLeft(): Promise<boolean> {
    const engine = await this.#engineNow();
    if ("trouble" in engine) return engine.trouble.kind === "no-program";
    const left = await this.#leftNow();
    const own = [...left.values()].filter(({ run, id }) => this.#options.take(run, id));
    await removeContainers(engine, own.map(idOf));
    left.clear();
    return true;
  }

  async close(): Promise<void> {
    if (!this.#engine) return;
    await Promise.all(this.#removals);
    await this.clearLeft();
    const engine = await this.#engineNow();
    if ("trouble" in engine) return;
    // containers that an engine created before it went away, without an answer
    const found = await stageContainers(engine, this.#options.state);
    if ("trouble" in found) return;
    const own = found.filter(({ run }) => run === this.#options.run);
    await removeContainers(engine, own.map(idOf));
  }

  #run(
    getReady: () => Promise<ToRun>,
    { work, log, limits }: Pick<ExecutionRequest, "work" | "log" | "limits">,
  ): Running {
    const { patienceMs = 60_000 } = this.#options;
    const done = (engine: ContainerEngine, id: string) => {
      takeBack(work);
      const removal = removeContainers(engine, [id]).finally(() => this.#removals.delete(removal));
      this.#removals.add(removal);
    };
    return new ContainerRun(getReady, { log, limits, patienceMs, done });
  }

  async #create(request: ExecutionRequest): Promise<ToRun> {
    const { state, run } = this.#options;
    const engine = await this.#engineNow();
    if ("trouble" in engine) return { failed: engine.trouble.detail, line: engine.trouble.line };
    for (let again = false; ; again = true) {
      const image = await this.#imageOf(engine, request.image);
      if (!image.ok) return { failed: image.detail };
      const labels = stageLabels(request, { state, run, image: image.id });
      const { args, env } = stageCreation(engine, request, { image, labels });
      const { walls, log } = request;
      // the log is mounted by itself, so it must exist
      const perProcess = `mlrb: ${engine.version} has no control group for memory: each process has a limit, not all together\n`;
      if (walls) appendFileSync(log, engine.holds.memory ? "" : perProcess);
      if (walls?.user && wallsUser(engine, request)) {
        makeReadable(request.work);
        giveTo([...walls.writes, log], walls.user);
      }
      const created = await engine.call(args, { env });
      if (created.ok) {
        const id = created.stdout.trim().split("\n").at(-1)!;
        const where = { ...whereOf(engine, image.id), ...gpuFacts(request.gpus) };
        return { engine, id, begin: true, where, spentMs: 0 };
      }
      this.#images.delete(request.image ?? "host");
      // the image was removed after the check
      if (created.trouble.kind === "image-missing" && !again) continue;
      const { detail, line } = created.trouble;
      return { failed: `its container could not be created: ${detail}`, line };
    }
  }

  async #engineNow(): Promise<EngineAnswer> {
    this.#engine ??= containerEngine(this.#options.env ?? process.env);
    const engine = await this.#engine;
    if ("trouble" in engine) this.#engine = undefined; // it may be started later
    return engine;
  }

  async #imageOf(engine: ContainerEngine, image = "host"): Promise<EnsuredImage> {
    const { root } = this.#options;
    if (!this.#images.has(image)) this.#images.set(image, ensureImage(engine, image, { root }));
    const ensured = await this.#images.get(image)!;
    if (!ensured.ok) this.#images.delete(image);
    return ensured;
  }

  /** Containers of dead runs, by id, each for one caller only. Empty if no engine answers. */
  #leftNow(): Promise<Map<string, LeftContainer>> {
    this.#left ??= (async () => {
      const { state, run, isLive } = this.#options;
      const engine = await this.#engineNow();
      const found = "trouble" in engine ? engine : await stageContainers(engine, state);
      if ("trouble" in found) return new Map();
      const dead = found.filter((one) => one.run !== run && !isLive(one.run));
      return new Map(dead.map((one) => [one.id, one]));
    })();
    return this.#left;
  }
}

/** A failed one is run again: an engine that was restarted may have invented its exit code. */
function isWorthAdopting({ Status, ExitCode, OOMKilled }: ContainerState): boolean {
  if (Status === "exited" || Status === "stopped") return ExitCode === 0 && !OOMKilled;
  return Status === "running" || Status === "paused";
}

function whereOf(engine: ContainerEngine, image: string): Record<string, string> {
  return { executor: "docker", engine: engine.version, image };
}
