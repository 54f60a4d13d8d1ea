// Runs trusted stages in containers: what they need beside the repository stands in the request, so that the same
// stage runs on this machine and in here without a change to its code. A container starts in a fifth of a second
// and depends on no runner: a dead one's is found by its labels and waited for by the next.
import { appendFileSync } from "node:fs";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import { gpuFacts } from "@mlrb/core/ports/gpu";
import type { ContainerState } from "@mlrb/formats/stage/container-state";
import { type ContainerEngine, containerEngine } from "./container-engine.ts";
import { type EnsuredImage, ensureImage } from "./ensure-image.ts";
import { type LeftContainer, removeContainers, stageContainers } from "./left-containers.ts";
import { runContainer, type ToRun } from "./run-container.ts";
import { stageCreation } from "./stage-flags.ts";
import { stageLabels } from "./stage-labels.ts";

export type DockerExecutorOptions = {
  /** The repository. */
  root: string;
  /** Absolute path of `.mlrb`: containers of other state folders are nobody's business here. */
  state: string;
  /** This run's name. */
  run: string;
  /** Whether another run of this state folder goes on: what it started is its own. */
  isLive: (run: string) => boolean;
  env?: NodeJS.ProcessEnv;
  /** How long an engine that went away in mid-stage is waited for. */
  patienceMs?: number;
};

export type DockerExecutor = Executor & {
  /** Work folders that containers of dead runs may still write in; of whoever adopts them. */
  leftOver(): Promise<string[]>;
  /** Ends and removes containers of dead runs that nobody adopted. */
  clearLeft(): Promise<boolean>;
  adopt: NonNullable<Executor["adopt"]>;
  close(): Promise<void>;
};

type EngineAnswer = Awaited<ReturnType<typeof containerEngine>>;

export function dockerExecutor(options: DockerExecutorOptions): DockerExecutor {
  const { root, state, run, isLive, env = process.env, patienceMs = 60_000 } = options;
  let asked: Promise<EngineAnswer> | undefined;
  const images = new Map<string, Promise<EnsuredImage>>();
  const removals = new Set<Promise<void>>();
  let left: Promise<Map<string, LeftContainer>> | undefined;

  const engineNow = async (): Promise<EngineAnswer> => {
    asked ??= containerEngine(env);
    const engine = await asked;
    if ("trouble" in engine) asked = undefined; // it may be started meanwhile
    return engine;
  };
  const imageOf = async (engine: ContainerEngine, image = "host"): Promise<EnsuredImage> => {
    if (!images.has(image)) images.set(image, ensureImage(engine, image, { root }));
    const ensured = await images.get(image)!;
    if (!ensured.ok) images.delete(image);
    return ensured;
  };
  const remove = (engine: ContainerEngine, id: string) => {
    const removal = removeContainers(engine, [id]).finally(() => removals.delete(removal));
    removals.add(removal);
  };

  async function create(request: ExecutionRequest): Promise<ToRun> {
    const engine = await engineNow();
    if ("trouble" in engine) return { failed: engine.trouble.detail, line: engine.trouble.line };
    for (let again = false; ; again = true) {
      const image = await imageOf(engine, request.image);
      if (!image.ok) return { failed: image.detail };
      const labels = stageLabels(request, { state, run, image: image.id });
      const { args, env } = stageCreation(engine, request, { image, labels });
      const created = await engine.call(args, { env });
      if (created.ok) {
        const id = created.stdout.trim().split("\n").at(-1)!;
        const where = { ...whereOf(engine, image.id), ...gpuFacts(request.gpus) };
        return { engine, id, begin: true, where, spentMs: 0 };
      }
      images.delete(request.image ?? "host");
      // removed since it was looked for
      if (created.trouble.kind === "image-missing" && !again) continue;
      const { detail, line } = created.trouble;
      return { failed: `its container could not be created: ${detail}`, line };
    }
  }

  /** By id; nobody else's, and each to one caller only. Empty where no engine answers. */
  const leftNow = () => {
    left ??= (async () => {
      const engine = await engineNow();
      const found = "trouble" in engine ? engine : await stageContainers(engine, state);
      if ("trouble" in found) return new Map();
      const dead = found.filter((one) => one.run !== run && !isLive(one.run));
      return new Map(dead.map((one) => [one.id, one]));
    })();
    return left;
  };
  const clearLeft = async () => {
    const engine = await engineNow();
    if ("trouble" in engine) return engine.trouble.kind === "no-program";
    const mine = await leftNow();
    await removeContainers(engine, [...mine.keys()]);
    mine.clear();
    return true;
  };

  return {
    name: "docker",
    start(request) {
      if (request.preload !== undefined)
        appendFileSync(request.log, "mlrb: not forked from a warm process: a container starts a fresh one\n");
      const { log, limits } = request;
      return runContainer(() => create(request), { log, limits, patienceMs, done: remove });
    },
    mountsReadOnly: async () => true,
    async adopt(key) {
      const all = await leftNow();
      const engine = await engineNow();
      if ("trouble" in engine) return undefined;
      const found = [...all.values()].find((one) => one.key === key && isWorthIt(one.state));
      if (!found) return undefined;
      all.delete(found.id);
      // its clock went on; one that ended meanwhile did so in time
      const running = found.state.Status === "running";
      const spentMs = running ? Math.max(0, Date.now() - Date.parse(found.state.StartedAt)) : 0;
      const ready = async (): Promise<ToRun> => ({
        engine,
        id: found.id,
        begin: false,
        where: whereOf(engine, found.image),
        spentMs,
      });
      const { log, limits, work } = found;
      return { work, running: runContainer(ready, { log, limits, patienceMs, done: remove }) };
    },
    leftOver: async () => [...(await leftNow()).values()].map(({ work }) => work),
    clearLeft,
    async close() {
      if (!asked) return;
      await Promise.all(removals);
      await clearLeft();
      const engine = await engineNow();
      if ("trouble" in engine) return;
      // what an engine made that went away before it could say so
      const found = await stageContainers(engine, state);
      if ("trouble" in found) return;
      await removeContainers(
        engine,
        found.filter((one) => one.run === run).map(({ id }) => id),
      );
    },
  };
}

/** One that failed is run again: its exit code may be made up by an engine that was restarted. */
function isWorthIt({ Status, ExitCode, OOMKilled }: ContainerState): boolean {
  if (Status === "exited" || Status === "stopped") return ExitCode === 0 && !OOMKilled;
  return Status === "running" || Status === "paused";
}

function whereOf(engine: ContainerEngine, image: string): Record<string, string> {
  return { executor: "docker", engine: engine.version, image };
}
