// Runs a stage instance as processes on this machine. Limits are enforced from here, and an instance
// has ended only when nothing it started is left, detached children included.

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

/** How long a process that was asked to end may take before it is killed. */
const graceMs = 5_000;
/** How often memory is looked at, where it is limited. */
const meterMs = 250;

type Options = {
  /** null: programs are started without the helper. */
  python?: string | null;
  /** In place of five seconds. */
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
    start: (request) => start(request, { spawner, servers, able, graceMs: options.graceMs ?? graceMs }),
    mountsReadOnly: async () => (await able()).readOnly,
    close() {
      spawner.close();
      servers.close();
    },
  };
}

type Means = { spawner: Spawner; servers: ForkServers; able: () => Promise<Abilities>; graceMs: number };

function start(request: ExecutionRequest, means: Means): Running {
  const { token } = request;
  const known: Known = { token, root: request.work, groups: [], since: ticksNow(), first: 0 };
  let why: "time-limit" | "out-of-memory" | "cancelled" | undefined;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const signal = (name: NodeJS.Signals) => {
    stop();
    for (const group of known.groups) {
      try {
        process.kill(-group, name);
      } catch {
        // it is gone already
      }
    }
  };
  const timers: NodeJS.Timeout[] = [];
  /** What to send to a process that starts only after it was asked to end. */
  let asked: NodeJS.Signals = "SIGTERM";
  const end = (reason: "time-limit" | "cancelled") => {
    why ??= reason;
    signal("SIGTERM");
    timers.push(setTimeout(() => signal("SIGKILL"), means.graceMs));
  };
  const { timeMs } = request.limits;
  const limit = performance.now() + (timeMs ?? 0);
  /** A timer holds 24.8 days at most; a longer limit takes several. */
  const watch = () => {
    const left = limit - performance.now();
    if (left <= 0) end("time-limit");
    else timers.push(setTimeout(watch, Math.min(left, 2 ** 31 - 1)));
  };
  if (timeMs !== undefined) watch();

  const { memoryBytes } = request.limits;
  const meter =
    memoryBytes === undefined
      ? undefined
      : setInterval(() => {
          if (memoryHeld(known) <= memoryBytes) return;
          why ??= "out-of-memory";
          signal("SIGKILL"); // what is detached from the group is ended with the rest, below
        }, meterMs);

  const log = boundLog(request.log);

  const ended = (async (): Promise<ExecutionResult> => {
    // what starts it may still be getting ready when it is asked to end
    const begin = await Promise.race([beginning(request, means), stopped]);
    let result: JobEnd;
    const spawned = begin && why === undefined ? await begin() : { failed: "was ended before it began" };
    if ("failed" in spawned) {
      result = { kind: "failed", detail: spawned.failed };
    } else {
      known.groups.push(spawned.pid);
      known.first = spawned.pid;
      if (why !== undefined) signal(asked);
      result = await spawned.ended;
    }
    for (const timer of timers) clearTimeout(timer);
    clearInterval(meter);
    try {
      await endProcesses(known);
    } catch (error) {
      return { kind: "failed", cause: "machine", detail: (error as Error).message };
    } finally {
      log.release();
    }
    if (why === "cancelled") return { kind: "cancelled" };
    if (why === "time-limit") {
      const detail = `did not end within ${formatDuration(timeMs!)}`;
      appendFileSync(request.log, `mlrb: ${detail} (limits.time) and was ended\n`);
      return { kind: "failed", cause: "time-limit", detail };
    }
    if (why === "out-of-memory") {
      const detail = `held more than ${memoryBytes} bytes of memory`;
      appendFileSync(request.log, `mlrb: ${detail} (limits.memory) and was ended\n`);
      return { kind: "failed", cause: "out-of-memory", detail };
    }
    if (result.kind === "failed") {
      appendFileSync(request.log, `mlrb: ${result.detail}\n`);
      return { kind: "failed", cause: "machine", detail: result.detail };
    }
    if (result.code === 0) {
      const where = gpuFacts(request.gpus);
      return { kind: "succeeded", ...(request.gpus.length > 0 && { where }) };
    }
    if (result.signal) {
      const detail = `ended by ${result.signal}${result.signal === "SIGKILL" ? " (perhaps for lack of memory)" : ""}`;
      return { kind: "failed", cause: "exit-code", detail };
    }
    return { kind: "failed", cause: "exit-code", detail: exitDetail(result.code ?? 1) };
  })();

  return {
    ended,
    askToEnd: () => end("cancelled"),
    kill: () => {
      why ??= "cancelled";
      asked = "SIGKILL";
      signal("SIGKILL");
    },
  };
}

type Begin = () => Promise<Spawned | { failed: string }>;

/** How it is started: forked from a process that has imported what it needs, or as a process of its own. */
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
