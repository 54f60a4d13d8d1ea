// Runs a stage that opens what untrusted code made in the walls of another program, on a node where this user can build no
// namespaces. They are those of an attempt's sandbox; the stage's paths, limits and ends are those of the local executor.
// Such walls end at once: a stage that is asked to end gets no time for it.
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "@mlrb/core/ports/command-line";
import type { ExecutionRequest, Running, StageWalls } from "@mlrb/core/ports/executor";
import { gpuFacts, gpuVariables } from "@mlrb/core/ports/gpu";
import { unreachable } from "@mlrb/core/ports/outcome";
import type { ExecResult, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { formatDuration } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { giveTo, makeReadable } from "@mlrb/kit/files/give-to";
import { boundLog } from "@mlrb/kit/processes/bounded-log";
import { exitDetail } from "@mlrb/kit/processes/exit-detail";
import { groupName } from "./walls.ts";

export type WalledRequest = ExecutionRequest & { walls: StageWalls };

type OpenWalls = (request: WallsRequest) => Promise<Walls>;

export function runInWalls(request: WalledRequest, open: OpenWalls): Running {
  const stage = new WalledStage(request, open);
  return { ended: stage.run(), askToEnd: () => stage.end("cancelled"), kill: () => stage.end("cancelled") };
}

class WalledStage {
  readonly #request: WalledRequest;
  readonly #open: OpenWalls;
  readonly #stopped = Promise.withResolvers<void>();
  #walls: Walls | undefined;
  #why: "time-limit" | "cancelled" | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: WalledRequest, open: OpenWalls) {
    this.#request = request;
    this.#open = open;
  }

  /** Never rejects. */
  async run(): Promise<ExecutionResult> {
    const { log } = this.#request;
    const file = openSync(log, "a");
    const say = (bytes: Uint8Array | string) => {
      try {
        writeSync(file, Buffer.from(bytes));
      } catch {
        // no stage fails because of its log
      }
    };
    const bound = boundLog(log);
    try {
      const result = await this.#run(say);
      const line = lineOf(result);
      if (line !== undefined) say(`mlrb: ${line}\n`);
      return result;
    } catch (error) {
      const detail = (error as Error).message;
      say(`mlrb: ${detail}\n`);
      return { kind: "failed", cause: "machine", detail };
    } finally {
      clearTimeout(this.#timer);
      bound.release();
      closeSync(file);
    }
  }

  end(why: "time-limit" | "cancelled"): void {
    this.#why ??= why;
    this.#stopped.resolve();
    void this.#walls?.kill().catch(() => {}); // `close` reports it
  }

  async #run(say: (bytes: Uint8Array) => void): Promise<ExecutionResult> {
    const { work, root, walls, limits, ranMs = 0 } = this.#request;
    if (walls.user) {
      makeReadable(work);
      giveTo(walls.writes, walls.user);
    }
    let ended: ExecResult | undefined;
    let where: Record<string, string> = {};
    try {
      const opening = this.#open(wallsRequest(this.#request));
      // a pull of its image takes minutes
      const opened = await Promise.race([opening, this.#stopped.promise]);
      if (!opened) {
        void opening.then((late) => late.close()).catch(() => {});
        return { kind: "cancelled" };
      }
      this.#walls = opened;
      // the limit is the stage's own: a pull before does not count, nor does it in the local executor
      if (limits.timeMs !== undefined) this.#watch(performance.now() + limits.timeMs - ranMs);
      where = opened.where;
      try {
        if (this.#why === undefined)
          ended = await opened.exec({
            argv: commandLine(this.#request, process.execPath),
            cwd: root,
            env: variablesInside(this.#request),
            onOutput: (_, bytes) => say(bytes),
          });
      } finally {
        await opened.close();
      }
    } finally {
      if (walls.user) giveTo(walls.writes, { uid: process.getuid!(), gid: process.getgid!() });
    }
    if (this.#why === "cancelled") return { kind: "cancelled" };
    if (this.#why === "time-limit" || ended === undefined)
      return {
        ...{ kind: "failed", cause: "time-limit" },
        detail: `did not end within ${formatDuration(this.#request.limits.timeMs!)}`,
      };
    return resultOf(ended, { request: this.#request, where });
  }

  /** A timer holds 24.8 days at most. */
  #watch(limit: number): void {
    const left = limit - performance.now();
    if (left <= 0) this.end("time-limit");
    else this.#timer = setTimeout(() => this.#watch(limit), Math.min(left, 2 ** 31 - 1));
  }
}

/** What the walls of `request` show and limit. The folder of a sandbox is the stage's for temporary files. */
function wallsRequest(request: WalledRequest): WallsRequest {
  const { work, walls, image, environment, cpus, gpus, token } = request;
  const { reads, writes, limits } = walls;
  return {
    ...{ folder: join(work, "tmp"), seenAs: "/stage", readOnly: [] },
    reads: reads.filter((path) => existsSync(path)),
    writes: writes.filter((path) => existsSync(path)),
    network: "none",
    limits: {
      memoryBytes: memoryLimit(request),
      processes: limits.processes,
      diskBytes: limits.fileBytes,
      cpus,
    },
    gpus,
    ...(image !== undefined && { image }),
    ...(environment && { environment }),
    token: groupName(token), // by which the next run finds its control groups
  };
}

/** Walls renumber the devices that they show. This user has no name inside, and some libraries read USER first. */
function variablesInside({ env, gpus }: ExecutionRequest): Record<string, string> {
  const { CUDA_VISIBLE_DEVICES: none, MLRB_GPUS } = gpuVariables(gpus);
  const devices = { MLRB_GPUS: MLRB_GPUS!, ...(gpus.length === 0 && { CUDA_VISIBLE_DEVICES: none! }) };
  return { USER: "runner", ...env, ...devices };
}

function memoryLimit({ limits, walls }: WalledRequest): number {
  return limits.memoryBytes ?? walls.limits.memoryBytes;
}

function resultOf(
  ended: ExecResult,
  { request, where }: { request: WalledRequest; where: Record<string, string> },
): ExecutionResult {
  if (ended.kind === "lost") return { kind: "failed", cause: "machine", detail: ended.detail };
  if (ended.kind === "not-started")
    return { kind: "failed", cause: "exit-code", detail: `${exitDetail(127)} (${ended.detail})` };
  if (ended.over?.limit === "memory") {
    const detail = `held more than ${memoryLimit(request)} bytes of memory`;
    return { kind: "failed", cause: "out-of-memory", detail };
  }
  switch (ended.kind) {
    case "exited": {
      if (ended.code !== 0) return { kind: "failed", cause: "exit-code", detail: exitDetail(ended.code) };
      const { engine, sandbox, ...facts } = where;
      return {
        kind: "succeeded",
        where: { ...gpuFacts(request.gpus), ...facts, walls: engine ?? sandbox ?? "" },
      };
    }
    case "signalled": {
      const met = ended.over && ` (${ended.over.detail})`;
      const guess = ended.signal === "SIGKILL" ? " (perhaps for lack of memory)" : "";
      return { kind: "failed", cause: "exit-code", detail: `ended by ${ended.signal}${met ?? guess}` };
    }
    default:
      return unreachable(ended);
  }
}

/** The last line of its log; undefined where the program's own output explains the end. */
function lineOf(result: ExecutionResult): string | undefined {
  if (result.kind !== "failed" || result.cause === "exit-code") return undefined;
  switch (result.cause) {
    case "time-limit":
      return `${result.detail} (limits.time) and was ended`;
    case "out-of-memory":
      return `${result.detail} (limits.memory) and was ended`;
    default:
      return result.detail;
  }
}
