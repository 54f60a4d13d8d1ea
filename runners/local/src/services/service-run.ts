// Runs a service from its first to its last user: starts its server, waits for its first answer, starts it again
// if it ends while it is used, and ends its whole process tree. It is a stage's process like any other, so the
// next run ends what a killed run left of it.
import { join } from "node:path";
import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Executor, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { Bound } from "../decide/bind-inputs.ts";
import type { GpuLease } from "../leases/gpu-leases.ts";
import { type CarriedOut, machineFailure } from "../run/carried-out.ts";
import { holdGpus, type RunContext } from "../run/execute-instance.ts";
import { openLog } from "../stage/open-log.ts";
import { LostInput, prepareStage } from "../stage/prepare-stage.ts";
import { freePort } from "./free-port.ts";
import { nextStart, type Starts } from "./next-start.ts";
import { portOwner } from "./port-owner.ts";
import { ServiceHours } from "./service-hours.ts";
import { untilHealthy } from "./until-healthy.ts";

export type ServiceContext = RunContext & {
  reasons: Reason[];
  log: string;
  /** Called at the first answer of each server. */
  serving: (url: string) => void;
  /** Called when one that answered has ended, and is started again. */
  away: () => void;
};

type Server = { executor: Executor; port: number; gpus: GpuLease | undefined };

/** By service, for the whole run: users that live on have its address. */
const ports = new WeakMap<Instance, number>();

/** A try's end, and whether the server had answered before. */
type Tried = { result: ExecutionResult; served: boolean };

export class ServiceRun implements Running {
  readonly ended: Promise<ExecutionResult>;
  readonly #instance: Instance;
  readonly #bound: Bound;
  readonly #context: ServiceContext;
  readonly #end = new AbortController();
  #why: "stopped" | "cancelled" | undefined;
  #kills = false;
  #server: Running | undefined;
  readonly #carriedOut: Promise<CarriedOut>;

  constructor(instance: Instance, bound: Bound, context: ServiceContext) {
    this.#instance = instance;
    this.#bound = bound;
    this.#context = context;
    this.#carriedOut = this.#run();
    this.ended = this.#carriedOut.catch(() => {}).then(() => ({ kind: "cancelled" }));
  }

  carriedOut(): Promise<CarriedOut> {
    return this.#carriedOut;
  }

  /** Its last user has ended. */
  stop(): void {
    this.#finish("stopped");
  }

  askToEnd(): void {
    this.#finish("cancelled");
  }

  kill(): void {
    this.#kills = true;
    this.#finish("cancelled");
  }

  #finish(why: "stopped" | "cancelled"): void {
    this.#why ??= why;
    this.#end.abort();
    if (this.#kills) this.#server?.kill();
    else this.#server?.askToEnd();
  }

  async #run(): Promise<CarriedOut> {
    let gpus: GpuLease | undefined;
    const { onEvent, journal, reasons, log, executorOf } = this.#context;
    try {
      const held = await holdGpus(this.#instance, {
        ...this.#context,
        interrupts: () => (this.#why === undefined ? 0 : 1),
      });
      if (held && "kind" in held) return held.kind === "cancelled" ? this.#asked() : held;
      gpus = held;
      onEvent({ kind: "started", instance: this.#instance, reasons, log, expectedMs: undefined });
      journal.write({ event: "start", stage: this.#instance.id, key: this.#bound.key, reasons });
      const port = ports.get(this.#instance) ?? (await freePort());
      ports.set(this.#instance, port);
      const executor = await executorOf(this.#instance.execution.executor);
      return await this.#withRestarts({ executor, port, gpus });
    } catch (error) {
      if (error instanceof LostInput) return { kind: "lost", detail: error.message };
      return machineFailure(error);
    } finally {
      gpus?.release();
    }
  }

  async #withRestarts(server: Server): Promise<CarriedOut> {
    const { restartsMax } = this.#instance.execution.service!;
    const { journal, onEvent, away } = this.#context;
    let before: string | undefined;
    let starts: Starts = { restarts: 0, served: false };
    for (let tries = 1; ; tries++) {
      const tried = await this.#try(server, before);
      if (this.#why !== undefined) return this.#asked();
      const failure = failureOf(tried);
      const { detail, cause } = failure;
      const stage = this.#instance.id;
      const next = nextStart(starts, tried, restartsMax);
      if (next.kind === "failed")
        return next.over ? { ...failure, detail: `${detail}, and was started ${tries} times` } : failure;
      starts = next.starts;
      before = `${detail}; restart ${starts.restarts} of ${restartsMax}`;
      away();
      journal.write({ event: "retry", stage, tried: tries, cause, detail });
      onEvent({ kind: "retried", instance: this.#instance, detail: before, remade: false });
    }
  }

  async #try(server: Server, before: string | undefined): Promise<Tried> {
    const { slots, log: to } = this.#context;
    const { executor, port, gpus } = server;
    const { secrets } = this.#instance.action;
    const work = slots.take({ fresh: true });
    const log = openLog({ from: join(work, "log"), to, secrets, before, adopted: false });
    try {
      const token = `${this.#context.folder.token}${this.#instance.index}:`;
      const prepared = { ...this.#context, executor, token, work, ...(gpus && { gpus }) };
      const request = await prepareStage(this.#instance, this.#bound, prepared);
      if (this.#why !== undefined) return { result: { kind: "cancelled" }, served: false };
      // users have the address, so it must be the same after a restart
      const detail = refusalOf(port, undefined);
      if (detail !== undefined)
        return { result: { kind: "failed", cause: "machine", detail }, served: false };
      return await this.#follow(executor.start({ ...request, port }), port);
    } finally {
      // it has ended by itself, except after an error here
      this.#server?.kill();
      await this.#server?.ended;
      this.#server = undefined;
      await log.end();
      slots.give(work);
    }
  }

  async #follow(running: Running, port: number): Promise<Tried> {
    const { serving, journal } = this.#context;
    const { health, readyMs } = this.#instance.execution.service!;
    this.#server = running;
    const gone = new AbortController();
    const ended = running.ended.finally(() => gone.abort());
    const hours = new ServiceHours(this.#instance, this.#context);
    try {
      const url = `http://127.0.0.1:${port}`;
      const signal = AbortSignal.any([gone.signal, this.#end.signal]);
      const refusal = () => refusalOf(port, running.pid?.());
      const detail = await untilHealthy(`${url}${health}`, { readyMs, signal, refusal });
      const served = detail === undefined;
      if (served) {
        journal.write({ event: "serving", stage: this.#instance.id, url });
        serving(url);
      } else if (!signal.aborted) {
        running.askToEnd();
        await ended;
        return { result: { kind: "failed", cause: "time-limit", detail }, served };
      }
      return { result: await ended, served };
    } finally {
      hours.end();
    }
  }

  #asked(): CarriedOut {
    if (this.#why === "stopped") return { kind: "succeeded", outputs: {}, durationMs: 0 };
    return { kind: "cancelled" };
  }
}

/** An agent may listen at the port of a server that has ended, and answer in its place. */
function refusalOf(port: number, root: number | undefined): string | undefined {
  if (portOwner(port, root) !== "other") return undefined;
  return `another program listens at port ${port}, which was the service's (\`ss -ltnp\` names it): end that program and run again`;
}

function failureOf({ result, served }: Tried): CarriedOut & { kind: "failed" } {
  const when = served ? "while it was used" : "before its first answer";
  if (result.kind !== "failed")
    return { kind: "failed", cause: "exit-code", detail: `it ended ${when} with status 0` };
  if (["time-limit", "machine"].includes(result.cause)) return result;
  return { ...result, detail: `it ended ${when}: ${result.detail}` };
}
