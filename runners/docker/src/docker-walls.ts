// Walls of a container, for hosts with an engine: one container holds all programs of an attempt. It ends with its
// supervisor, however that ends, and nothing that runs inside can end it: whatever takes it away from under the
// programs (the engine, a person, the machine) is never counted as the agent's doing.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { ExecRequest, ExecResult, OverLimit, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { stateOf } from "./container-end.ts";
import { type ContainerEngine, containerEngine } from "./container-engine.ts";
import { type ContainerGroup, containerGroup } from "./container-group.ts";
import { type ContainerGuard, guardContainer } from "./container-guard.ts";
import { type DiskMeter, startDiskMeter } from "./disk-meter.ts";
import { ensureImage } from "./ensure-image.ts";
import { removeContainers } from "./left-containers.ts";
import { type ProgramEnd, type ProgramInContainer, runInContainer } from "./program-in-container.ts";
import { sandboxCreation, sandboxLabel } from "./sandbox-flags.ts";

export type DockerWallsOptions = {
  env?: NodeJS.ProcessEnv;
  /** The repository, for an image that is a Dockerfile in it. */
  root?: string;
  /** How long an engine that does not answer is waited for: it may be restarting, and an attempt is worth it. */
  patienceMs?: number;
};

async function engineSoon({ env, patienceMs = 60_000 }: DockerWallsOptions): Promise<ContainerEngine> {
  for (const begin = performance.now(); ; ) {
    const engine = await containerEngine(env);
    if (!("trouble" in engine)) return engine;
    const mayCome = engine.trouble.kind === "no-daemon" || engine.trouble.kind === "timed-out";
    if (!mayCome || performance.now() - begin > patienceMs) throw new Error(engine.trouble.detail);
    await sleep(500);
  }
}

/** An engine that is being restarted: a second between two tries. */
const thawTries = 60;

type Standing = {
  id: string;
  guard: ContainerGuard;
  group: ContainerGroup;
  meter: DiskMeter;
  living: boolean;
  /** Ended from here, and why if a limit was met. */
  byUs: boolean;
  over: OverLimit | undefined;
  programs: Set<ProgramInContainer>;
};

/** Its programs are the user to whom `request.folder` belongs. Throws where no container can be had, and says why. */
export async function dockerWalls(request: WallsRequest, options: DockerWallsOptions = {}): Promise<Walls> {
  const { uid, gid } = statSync(request.folder);
  if (uid === 0)
    throw new Error("bug: programs in a container would be root; give their folder to another user");
  const engine = await engineSoon(options);
  if (engine.rootless && engine.flavour === "docker")
    throw new Error(
      "a rootless Docker cannot hold programs that nobody vouches for: files of theirs would belong to users whom " +
        "this one may not read; use rootless podman (MLRB_CONTAINER_ENGINE=podman), a Docker of root, or bubblewrap",
    );
  const image = await ensureImage(engine, request.image, { root: options.root ?? process.cwd() });
  if (!image.ok) throw new Error(image.detail);
  let standing: Promise<Standing> | undefined;

  async function stand(): Promise<Standing> {
    if (!image.ok) throw new Error("bug: no image");
    const created = await engineCall(["create"], sandboxCreation(engine as ContainerEngine, request, image));
    const id = created.trim().split("\n").at(-1)!;
    const guard = guardContainer(engine as ContainerEngine, id);
    const trouble = await guard.ready;
    if (trouble) throw new Error(`the sandbox could not be opened: ${trouble.failed}`);
    const pid = (await engineCall(["inspect"], ["inspect", "--format", "{{.State.Pid}}", id])).trim();
    const group = containerGroup(Number(pid), id);
    const now: Standing = {
      ...{ id, guard, group, living: true, byUs: false, over: undefined, programs: new Set() },
      meter: startDiskMeter({
        folder: request.folder,
        limitBytes: request.limits.diskBytes,
        pids: group.pids,
        over: (limit) => {
          now.over ??= limit;
          void end(now).catch(() => {}); // told by kill
        },
      }),
    };
    void guard.ended.then((state) => {
      now.living = false;
      now.meter.stop();
      // shared memory and the like can make the kernel end the first process too
      if (state?.OOMKilled && !now.byUs) now.over ??= memoryOver(request);
    });
    return now;
  }

  async function engineCall([what]: [string], args: string[]): Promise<string> {
    const result = await engine.call(args);
    if (!result.ok) throw new Error(`the sandbox could not be opened (${what}): ${result.trouble.detail}`);
    return result.stdout;
  }

  async function end(now: Standing): Promise<void> {
    now.byUs = true;
    now.meter.stop();
    if (now.living) {
      const killed = await engine.call(["kill", now.id], { timeMs: 20_000 });
      // no engine to ask: its processes are there all the same
      if (!killed.ok && !["container-missing", "not-running"].includes(killed.trouble.kind))
        await now.group.end();
      now.guard.release();
      await Promise.race([now.guard.ended, sleep(20_000, undefined, { ref: false })]);
    }
    if (now.group.pids().length > 0) await now.group.end();
    for (const program of now.programs) program.forget();
  }

  async function kill(): Promise<void> {
    const now = await standing?.catch(() => undefined);
    standing = undefined; // what is asked for next stands behind new walls around the same folder
    if (now) await end(now);
  }

  async function run(now: Standing, asked: ExecRequest): Promise<ExecResult> {
    const before = now.group.met();
    const program = runInContainer(engine as ContainerEngine, {
      id: now.id,
      user: `${uid}:${gid}`,
      request: asked,
    });
    now.programs.add(program);
    const ended = await program.ended;
    now.programs.delete(program);
    const after = now.group.met();
    if (!now.byUs) {
      // what it wrote just before its end
      const disk = await now.meter.look();
      if (disk) {
        now.over ??= disk;
        await end(now);
      }
    }
    const over =
      now.over ??
      (after.memory > before.memory ? memoryOver(request) : undefined) ??
      (after.processes > before.processes ? processesOver(request) : undefined);
    const met = over && { over };
    if (now.byUs) return { ...outcomeOf(ended, now), ...met } as ExecResult;
    const gone = ended.kind === "exited" && ended.code === 0 ? undefined : await goneUnder(now, ended);
    if (now.over) return { kind: "signalled", signal: "SIGKILL", over: now.over };
    if (gone !== undefined) return { kind: "lost", detail: gone };
    if (ended.kind === "not-begun" && over) return { kind: "exited", code: 126, over };
    const outcome = outcomeOf(ended, now);
    return outcome.kind === "exited" || outcome.kind === "signalled" ? { ...outcome, ...met } : outcome;
  }

  async function isPaused({ id }: Standing): Promise<boolean> {
    const state = await stateOf(engine as ContainerEngine, id);
    // an engine that does not answer is asked again
    return "trouble" in state ? state.trouble.kind !== "container-missing" : state.Status === "paused";
  }

  /** Why the container is no longer there; undefined where it is. */
  async function goneUnder(now: Standing, ended: ProgramEnd): Promise<string | undefined> {
    // an engine that removes a container kills its programs first, and calls it running for a moment more
    const killed = ended.kind === "signalled" && ended.signal === "SIGKILL";
    if (killed) await Promise.race([now.guard.ended, sleep(500, undefined, { ref: false })]);
    const state = await stateOf(engine as ContainerEngine, now.id);
    if (!("trouble" in state) && (state.Status === "running" || state.Status === "paused")) return undefined;
    await Promise.race([now.guard.ended, sleep(2_000, undefined, { ref: false })]);
    now.living = false;
    if ("trouble" in state && state.trouble.kind !== "container-missing")
      return `the container engine went away under the sandbox: ${state.trouble.detail}`;
    return "the sandbox's container was ended by somebody else";
  }

  return {
    kind: engine.flavour,
    where: { sandbox: engine.flavour, engine: engine.version, image: image.id },
    async exec(asked) {
      const before = await standing?.catch(() => undefined);
      if (before && !before.living && before.over) standing = undefined; // ended for a limit: a new beginning
      standing ??= stand();
      let now: Standing;
      try {
        now = await standing;
      } catch (error) {
        standing = undefined;
        return { kind: "lost", detail: (error as Error).message };
      }
      if (!now.living) return { kind: "lost", detail: "the sandbox's container has ended" };
      return await run(now, asked);
    },
    async freeze() {
      const now = await standing?.catch(() => undefined);
      if (!now?.living) return true;
      // an engine starts nothing in a paused container: what it was asked for before is waited for
      const begun = Promise.all([...now.programs].map((program) => program.begun));
      await Promise.race([begun, sleep(10_000, undefined, { ref: false })]);
      const paused = await engine.call(["pause", now.id], { timeMs: 20_000 });
      if (paused.ok || !now.living) return true;
      await engine.call(["unpause", now.id], { timeMs: 20_000 }); // an engine that was too slow to say so
      return false;
    },
    async thaw() {
      const now = await standing?.catch(() => undefined);
      for (let round = 0; now?.living; round++) {
        const thawed = await engine.call(["unpause", now.id], { timeMs: 20_000 });
        if (thawed.ok || !(await isPaused(now))) break;
        if (round === thawTries) throw new Error(`the sandbox cannot be let go on: ${thawed.trouble.detail}`);
        await sleep(1000);
      }
      return true;
    },
    kill,
    async close() {
      const now = await standing?.catch(() => undefined);
      await kill();
      if (now) await Promise.race([now.guard.removed, sleep(20_000, undefined, { ref: false })]);
      await clear(engine, request.token); // the engine was away when one was to be removed
    },
  };
}

/** What whoever comes after a killed supervisor does: removes what is left of sandboxes with this mark. */
export async function clearDockerWalls(token: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const engine = await containerEngine(env);
  if (!("trouble" in engine)) await clear(engine, token);
}

async function clear(engine: ContainerEngine, token: string): Promise<void> {
  const filter = `label=${sandboxLabel}=${token}`;
  const listed = await engine.call(["ps", "--all", "--quiet", "--no-trunc", "--filter", filter]);
  await removeContainers(engine, listed.ok ? listed.stdout.split("\n").filter(Boolean) : []);
}

function outcomeOf(ended: ProgramEnd, { byUs }: Standing): ExecResult {
  if (byUs) return { kind: "signalled", signal: "SIGKILL" };
  switch (ended.kind) {
    case "exited":
    case "signalled":
      return ended;
    case "missing":
      return { kind: "not-started", detail: "there is no such program in the sandbox" };
    case "not-begun":
      return { kind: "not-started", detail: ended.said || "the engine does not say why" };
    default:
      return unreachable(ended);
  }
}

function memoryOver({ limits }: WallsRequest): OverLimit {
  return {
    limit: "memory",
    detail: `its programs together took more than ${limits.memoryBytes} bytes of memory`,
  };
}

function processesOver({ limits }: WallsRequest): OverLimit {
  return { limit: "processes", detail: `more than ${limits.processes} processes and threads at once` };
}
