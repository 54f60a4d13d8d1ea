// Runs a stage instance as processes on this machine and enforces its limits. An instance ends only when no
// process that it started is left, detached children included.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import { gpuFacts, gpuVariables } from "@mlrb/core/ports/gpu";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { giveTo, makeReadable } from "@mlrb/kit/files/give-to";
import { boundLog } from "@mlrb/kit/processes/bounded-log";
import type { ControlGroups } from "@mlrb/kit/processes/control-groups";
import { endProcesses, type Known, memoryHeld, ticksNow } from "@mlrb/kit/processes/end-processes";
import { exitDetail } from "@mlrb/kit/processes/exit-detail";
import { gpuDevices } from "@mlrb/kit/processes/gpu-devices";
import { quiet } from "@mlrb/kit/processes/process-table";
import { type ForkServers, forkServers } from "./fork-servers.ts";
import { type Abilities, abilities, confined } from "./namespaces.ts";
import { type Spawner, startSpawner } from "./spawner.ts";
import type { JobEnd, Spawned } from "./spawner-helper.ts";
import { describeWalls, limited, walled, wallsGroups, wallsMissing } from "./walls.ts";

/** Interval of memory checks, where memory is limited. */
const meterMs = 250;

/** `root` is every stage's working directory. `python: null`: programs are started without the helper. */
export function localExecutor(
  root: string,
  { python, graceMs = 5_000 }: { python?: string | null; graceMs?: number } = {},
): Executor {
  const spawner = startSpawner(root, python);
  const servers = forkServers(root);
  const able = once(abilities);
  const missing = once(wallsMissing);
  return {
    name: "local",
    start: (request) => new LocalProcess(request, { spawner, servers, able, missing, graceMs }),
    mountsReadOnly: async () => (await able()).readOnly,
    close() {
      spawner.close();
      servers.close();
    },
  };
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

type Means = {
  spawner: Spawner;
  servers: ForkServers;
  able: () => Promise<Abilities>;
  /** Why no walls can be built here; undefined if they can. */
  missing: () => Promise<string | undefined>;
  /** Time to end before a process is killed. */
  graceMs: number;
};

/** Where a stage that opens what untrusted code made has its limits, and why it has no walls. */
type Held = { groups: ControlGroups; missing: string | undefined };

type Early = "time-limit" | "out-of-memory" | "cancelled";

/** One instance from its start to the death of its process tree. */
class LocalProcess implements Running {
  readonly ended: Promise<ExecutionResult>;
  readonly #request: ExecutionRequest;
  readonly #means: Means;
  readonly #known: Known;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #timers: NodeJS.Timeout[] = [];
  #held: Held | undefined;
  #why: Early | undefined;
  /** The signal for a process that starts only after it was asked to end. */
  #signal: NodeJS.Signals = "SIGTERM";

  constructor(request: ExecutionRequest, means: Means) {
    this.#request = request;
    this.#means = means;
    this.#known = { token: request.token, root: request.work, groups: [], since: ticksNow(), first: 0 };
    this.ended = this.#run();
  }

  askToEnd(): void {
    this.#end("cancelled");
  }

  pid(): number | undefined {
    return this.#known.groups[0];
  }

  kill(): void {
    this.#why ??= "cancelled";
    this.#signal = "SIGKILL";
    this.#send("SIGKILL");
  }

  async #run(): Promise<ExecutionResult> {
    const { walls, token } = this.#request;
    if (walls)
      this.#held = { groups: wallsGroups(token, walls.limits), missing: await this.#means.missing() };
    const meter = this.#watchLimits();
    const log = boundLog(this.#request.log);
    const end = await this.#start();
    for (const timer of this.#timers) clearTimeout(timer);
    clearInterval(meter);
    try {
      // a search of /proc for the rest takes longer than a short stage
      if (end.kind === "ended" && end.alone) this.#known.groups.length = 0;
      else await endProcesses(this.#known);
      await this.#takeBack();
    } catch (error) {
      return { kind: "failed", cause: "machine", detail: (error as Error).message };
    } finally {
      log.release();
    }
    return this.#why === undefined ? this.#resultOf(end) : this.#endedEarly(this.#why);
  }

  /** After the end of a stage that ran inside walls: its files are this process's user's again, its groups are gone. */
  async #takeBack(): Promise<void> {
    const { walls } = this.#request;
    if (!walls || !this.#held) return;
    const { groups } = this.#held;
    if (groups.met().memory > 0) this.#why ??= "out-of-memory";
    await groups.remove();
    if (walls.user) giveTo(walls.writes, { uid: process.getuid!(), gid: process.getgid!() });
  }

  async #start(): Promise<JobEnd> {
    // the start may still be in preparation when the instance is asked to end
    const start = beginning(this.#request, this.#means, this.#held);
    const begin = await Promise.race([start, this.#stopped.promise]);
    if (!begin || this.#why !== undefined) return { kind: "failed", detail: "was ended before it began" };
    const spawned = await begin();
    if ("failed" in spawned) return { kind: "failed", detail: spawned.failed };
    this.#known.groups.push(spawned.pid);
    this.#known.first = spawned.pid;
    if (this.#why !== undefined) this.#send(this.#signal);
    return spawned.ended;
  }

  /**
   * Ends the instance after its time limit. The returned interval ends the instance when it exceeds its memory
   * limit.
   */
  #watchLimits(): NodeJS.Timeout | undefined {
    const { timeMs } = this.#request.limits;
    const byKernel = this.#held?.groups.has.has("memory") === true;
    const memoryBytes = byKernel ? undefined : memoryLimit(this.#request);
    const limit = performance.now() + (timeMs ?? 0) - (this.#request.ranMs ?? 0);
    // a timer holds at most 24.8 days; a longer limit takes several timers
    const watch = () => {
      const left = limit - performance.now();
      if (left <= 0) this.#end("time-limit");
      else this.#timers.push(setTimeout(watch, Math.min(left, 2 ** 31 - 1)));
    };
    if (timeMs !== undefined) watch();
    if (memoryBytes === undefined) return undefined;
    return setInterval(() => {
      if (memoryHeld(this.#known) <= memoryBytes) return;
      this.#why ??= "out-of-memory";
      this.#send("SIGKILL"); // processes detached from the group are ended at the end, with all others
    }, meterMs);
  }

  #end(why: "time-limit" | "cancelled"): void {
    this.#why ??= why;
    this.#send("SIGTERM");
    this.#timers.push(setTimeout(() => this.#send("SIGKILL"), this.#means.graceMs));
  }

  #send(signal: NodeJS.Signals): void {
    this.#stopped.resolve();
    for (const group of this.#known.groups) {
      quiet(() => process.kill(-group, signal)); // the process may be gone
    }
  }

  #endedEarly(why: Early): ExecutionResult {
    const { log, limits } = this.#request;
    if (why === "cancelled") return { kind: "cancelled" };
    const [detail, limit] =
      why === "time-limit"
        ? [`did not end within ${formatDuration(limits.timeMs!)}`, "limits.time"]
        : [`held more than ${memoryLimit(this.#request)} bytes of memory`, "limits.memory"];
    appendFileSync(log, `mlrb: ${detail} (${limit}) and was ended\n`);
    return { kind: "failed", cause: why, detail };
  }

  #resultOf(end: JobEnd): ExecutionResult {
    const { log, gpus } = this.#request;
    if (end.kind === "failed") {
      appendFileSync(log, `mlrb: ${end.detail}\n`);
      return { kind: "failed", cause: "machine", detail: end.detail };
    }
    if (end.code === 0) {
      const weak = this.#held?.missing !== undefined;
      const where = { ...gpuFacts(gpus), ...(weak && { walls: "none: weak limits" }) };
      return { kind: "succeeded", ...(Object.keys(where).length > 0 && { where }) };
    }
    const { signal, code } = end;
    const perhaps = signal === "SIGKILL" ? " (perhaps for lack of memory)" : "";
    const detail = signal ? `ended by ${signal}${perhaps}` : exitDetail(code ?? 1);
    return { kind: "failed", cause: "exit-code", detail };
  }
}

function memoryLimit({ limits, walls }: ExecutionRequest): number | undefined {
  return limits.memoryBytes ?? walls?.limits.memoryBytes;
}

type Begin = () => Promise<Spawned | { failed: string }>;

/** Forks the program from a process that has imported its libraries, or starts a new process. */
async function beginning(
  request: ExecutionRequest,
  { spawner, servers, able }: Means,
  held: Held | undefined,
): Promise<Begin> {
  const { run, network, preload, log } = request;
  const inView = held !== undefined && held.missing === undefined;
  const readOnly = inView ? undefined : request.readOnly; // all inputs are read-only inside walls
  const argv = commandLine(request, process.execPath);
  if (held?.missing !== undefined && request.walls!.required)
    return async () => ({ failed: `it opens files that untrusted code made, and ${held.missing}` });
  const devices = held ? gpuDevices(request.gpus) : { files: [] };
  if ("trouble" in devices) return async () => ({ failed: devices.trouble });
  const walls = held && beginWalls(request, held, devices.files);
  const env = { ...request.env, ...gpuVariables(request.gpus), MLRB_TOKEN: request.token };
  const offline = network === "none" && !inView && (await able()).network;
  if (network === "none" && !inView && !offline)
    appendFileSync(log, "mlrb: network: none cannot be enforced here (no network namespaces)\n");
  const confinement = { ...(readOnly !== undefined && { readOnly }), ...(offline && { network }) };
  if (run.kind === "python" && preload !== undefined) {
    const job = { argv, env, log, preload, offline, readOnly, network, walls: walls?.described };
    const server =
      request.gpus.length > 0
        ? { fresh: "it holds a GPU, which is chosen at start" }
        : await servers.serverOf(job);
    if ("spawn" in server) return server.spawn;
    appendFileSync(log, `mlrb: not forked from a warm process: ${server.fresh}\n`);
  }
  if (walls && inView) {
    const { described, file } = walls;
    const job = { argv, env, log, walls: { described, argv: walled(argv, file) } };
    return () => spawner.spawn(job); // no confinement is left: walls are narrower
  }
  const within = walls ? limited(argv, walls.described) : argv;
  return () => spawner.spawn({ argv: confined(within, confinement), env, log });
}

/** Describes the walls, also in a file, and gives the folders of the stage to its user. */
function beginWalls(request: ExecutionRequest, { groups, missing }: Held, gpuFiles: readonly string[]) {
  const { log, work } = request;
  const walls = request.walls!;
  if (missing !== undefined)
    appendFileSync(
      log,
      `mlrb: weak limits: this stage opens files that untrusted code made, and ${missing}\n`,
    );
  const described = describeWalls(walls, request, { groups, gpuFiles, inView: missing === undefined });
  if (walls.user) {
    makeReadable(work);
    giveTo(described.view?.writes ?? [], walls.user);
  }
  const file = join(work, "walls.json");
  writeFileSync(file, JSON.stringify(described));
  return { described, file };
}
