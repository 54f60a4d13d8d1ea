// Runs a stage instance as processes on this machine and enforces its limits. An instance ends only when no process
// that it started is left, detached children included.

import { appendFileSync } from "node:fs";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import { gpuFacts, gpuVariables } from "@mlrb/core/ports/gpu";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { boundLog } from "@mlrb/kit/processes/bounded-log";
import { endProcesses, type Known, memoryHeld, ticksNow } from "@mlrb/kit/processes/end-processes";
import { exitDetail } from "@mlrb/kit/processes/exit-detail";
import { traced } from "../stage/read-trace.ts";
import { type ForkServers, forkServers } from "./fork-servers.ts";
import { type Abilities, abilities, confined } from "./namespaces.ts";
import { type Spawner, startSpawner } from "./spawner.ts";
import type { JobEnd, Spawned } from "./spawner-helper.ts";

/** Time to end before a process is killed. */
const graceMs = 5_000;
/** Interval of memory checks, where memory is limited. */
const meterMs = 250;

type Options = {
  /** null: programs are started without the helper. */
  python?: string | null;
  /** Replaces the grace period of five seconds. */
  graceMs?: number;
};

/** `root` is every stage's working directory. */
export function localExecutor(root: string, options: Options = {}): Executor {
  const spawner = startSpawner(root, options);
  const servers = forkServers(root);
  let asked: Promise<Abilities> | undefined;
  const able = () => {
    asked ??= abilities();
    return asked;
  };
  return {
    name: "local",
    start: (request) =>
      new LocalProcess(request, { spawner, servers, able, graceMs: options.graceMs ?? graceMs }),
    mountsReadOnly: async () => (await able()).readOnly,
    close() {
      spawner.close();
      servers.close();
    },
  };
}

type Means = { spawner: Spawner; servers: ForkServers; able: () => Promise<Abilities>; graceMs: number };

/** One instance from its start to the death of its process tree. */
class LocalProcess implements Running {
  readonly ended: Promise<ExecutionResult>;
  readonly #request: ExecutionRequest;
  readonly #means: Means;
  readonly #known: Known;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #timers: NodeJS.Timeout[] = [];
  #why: "time-limit" | "out-of-memory" | "cancelled" | undefined;
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

  kill(): void {
    this.#why ??= "cancelled";
    this.#signal = "SIGKILL";
    this.#send("SIGKILL");
  }

  async #run(): Promise<ExecutionResult> {
    const meter = this.#watchLimits();
    const log = boundLog(this.#request.log);
    const end = await this.#start();
    for (const timer of this.#timers) clearTimeout(timer);
    clearInterval(meter);
    try {
      await endProcesses(this.#known);
    } catch (error) {
      return { kind: "failed", cause: "machine", detail: (error as Error).message };
    } finally {
      log.release();
    }
    return this.#why === undefined ? this.#resultOf(end) : this.#endedEarly(this.#why);
  }

  async #start(): Promise<JobEnd> {
    // the start may still be in preparation when the instance is asked to end
    const begin = await Promise.race([beginning(this.#request, this.#means), this.#stopped.promise]);
    if (!begin || this.#why !== undefined) return { kind: "failed", detail: "was ended before it began" };
    const spawned = await begin();
    if ("failed" in spawned) return { kind: "failed", detail: spawned.failed };
    this.#known.groups.push(spawned.pid);
    this.#known.first = spawned.pid;
    if (this.#why !== undefined) this.#send(this.#signal);
    return spawned.ended;
  }

  /**
   * Ends the instance after its time limit. The returned interval ends the instance when it exceeds its memory limit.
   */
  #watchLimits(): NodeJS.Timeout | undefined {
    const { timeMs, memoryBytes } = this.#request.limits;
    const limit = performance.now() + (timeMs ?? 0);
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
      try {
        process.kill(-group, signal);
      } catch {
        // the process is already gone
      }
    }
  }

  #endedEarly(why: "time-limit" | "out-of-memory" | "cancelled"): ExecutionResult {
    const { log, limits } = this.#request;
    if (why === "cancelled") return { kind: "cancelled" };
    const [detail, limit] =
      why === "time-limit"
        ? [`did not end within ${formatDuration(limits.timeMs!)}`, "limits.time"]
        : [`held more than ${limits.memoryBytes} bytes of memory`, "limits.memory"];
    appendFileSync(log, `mlrb: ${detail} (${limit}) and was ended\n`);
    return { kind: "failed", cause: why, detail };
  }

  #resultOf(end: JobEnd): ExecutionResult {
    const { log, gpus } = this.#request;
    if (end.kind === "failed") {
      appendFileSync(log, `mlrb: ${end.detail}\n`);
      return { kind: "failed", cause: "machine", detail: end.detail };
    }
    if (end.code === 0) return { kind: "succeeded", ...(gpus.length > 0 && { where: gpuFacts(gpus) }) };
    const { signal } = end;
    if (signal) {
      const detail = `ended by ${signal}${signal === "SIGKILL" ? " (perhaps for lack of memory)" : ""}`;
      return { kind: "failed", cause: "exit-code", detail };
    }
    return { kind: "failed", cause: "exit-code", detail: exitDetail(end.code ?? 1) };
  }
}

type Begin = () => Promise<Spawned | { failed: string }>;

/** Forks the program from a process that has imported its libraries, or starts a new process. */
async function beginning(request: ExecutionRequest, { spawner, servers, able }: Means): Promise<Begin> {
  const { run, readOnly, network, preload, log } = request;
  const words = commandLine(request, process.execPath);
  const argv = request.trace === undefined ? words : traced(words, request.trace);
  const env = { ...request.env, ...gpuVariables(request.gpus), MLRB_TOKEN: request.token };
  const offline = network === "none" && (await able()).network;
  if (network === "none" && !offline)
    appendFileSync(log, "mlrb: network: none cannot be enforced here (no network namespaces)\n");
  const confinement = { ...(readOnly !== undefined && { readOnly }), ...(offline && { network }) };
  const warm = run.kind === "python" && preload !== undefined && request.trace === undefined;
  if (warm && request.gpus.length > 0)
    appendFileSync(log, "mlrb: not forked from a warm process: it holds a GPU, which is chosen at start\n");
  else if (warm) {
    const server = await servers.serverOf({ argv, env, log, preload, offline, readOnly, network });
    if ("spawn" in server) return server.spawn;
    appendFileSync(log, `mlrb: not forked from a warm process: ${server.fresh}\n`);
  }
  return () => spawner.spawn({ argv: confined(argv, confinement), env, log });
}
