// Runs a plan: decides on instances that are ready, reuses or executes them, and reports events. After a kill the
// next run recovers: it finds recorded actions by their keys.

import type { Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Running } from "@mlrb/core/ports/executor";
import { type Outcome, unreachable } from "@mlrb/core/ports/outcome";
import { heldWords } from "@mlrb/core/schedule/queued-for";
import type { Command } from "@mlrb/core/schedule/schedule-state";
import { startOrder } from "@mlrb/core/schedule/start-order";
import { processName } from "@mlrb/kit/processes/process-name";
import type { Bound } from "../decide/bind-inputs.ts";
import { type Decision, decideInstance } from "../decide/decide-instance.ts";
import { reasonsToReuse } from "../decide/run-reasons.ts";
import { Journal } from "../journal/journal.ts";
import { ServiceRun } from "../services/service-run.ts";
import { logPath } from "../stage/log-path.ts";
import { beginWork, endWork, type WorkFolder } from "../stage/work-folders.ts";
import { WorkSlots } from "../stage/work-slots.ts";
import { capacity } from "./capacity.ts";
import { clearUnfinished } from "./clear-unfinished.ts";
import { endRunning } from "./end-running.ts";
import { executeInstance, type RunContext } from "./execute-instance.ts";
import { failedForTheMachine, resultOf, reusedResult } from "./instance-ends.ts";
import type { Result } from "./result.ts";
import { RunExecutors } from "./run-executors.ts";
import { newRunName } from "./run-name.ts";
import type { RunHandle, RunOptions } from "./run-request.ts";
import { SchedulerLoop } from "./scheduler-loop.ts";
import { mayRunWeakly } from "./weak-limits.ts";
import { workOf } from "./work-of.ts";

export function startRun(options: RunOptions): RunHandle {
  return new PlanRun(options).begin();
}

/** The state of one selected instance in this run; undefined fields are not known yet. */
type Progress = {
  bound?: Bound;
  reasons?: Reason[];
  running?: Running;
  /** The present run of a service. */
  service?: ServiceRun;
  /** How it was carried out. */
  end?: { durationMs: number; log?: string };
  /** How often an input was found missing from the store. */
  losses: number;
};

class PlanRun {
  readonly #options: RunOptions;
  readonly #run = newRunName();
  readonly #journal: Journal;
  readonly #folder: WorkFolder;
  /** Position among the selected instances, which the scheduler uses, by plan index. */
  readonly #position: Map<number, number>;
  readonly #progress: Progress[];
  readonly #results: (Result | undefined)[];
  /** Action key → plan index of the instance that runs the action in this run. */
  readonly #runners = new Map<string, number>();
  /** Of services that serve, by plan index. */
  readonly #addresses = new Map<number, string>();
  readonly #executors: RunExecutors;
  readonly #scheduler: SchedulerLoop;
  readonly #context: RunContext;
  readonly #finished = Promise.withResolvers<(Result | undefined)[]>();

  constructor(options: RunOptions) {
    const { plan, selected, workspace } = options;
    this.#options = options;
    this.#position = new Map(selected.map((index, at) => [index, at]));
    this.#progress = selected.map(() => ({ losses: 0 }));
    this.#results = plan.instances.map(({ index }) => options.given?.get(index));
    this.#journal = new Journal(workspace.state.journals, this.#run);
    this.#folder = beginWork(workspace.state.work, this.#run);
    const at = { run: this.#run, state: workspace.state, folder: this.#folder };
    this.#executors = new RunExecutors(options.executors, at);
    const starts = startOrder(plan.pipeline, plan.instances);
    this.#scheduler = new SchedulerLoop({
      works: selected.map((index) =>
        workOf(plan.instances[index]!, { plan, position: this.#position, starts, workspace }),
      ),
      capacity: capacity(options),
      failFast: options.failFast,
      obey: (command) => this.#obey(command),
      onQueued: (waits) => this.#journal.write({ event: "queued", waits }),
      onError: this.#finished.reject,
    });
    this.#context = this.#runContext();
  }

  begin(): RunHandle {
    const { pipeline, profile, selection } = this.#options.plan;
    this.#journal.write({ event: "begin", run: this.#run, pipeline, profile, selection });
    queueMicrotask(() => this.#scheduler.send({ kind: "begin" }));
    return {
      run: this.#run,
      finished: this.#finished.promise,
      results: () => this.#results,
      queued: () => this.#scheduler.queued(),
      interrupt: () => this.#scheduler.send({ kind: "interrupt" }),
    };
  }

  #obey(command: Command) {
    switch (command.kind) {
      case "decide":
        return this.#guard(() => this.#decide(command.index));
      case "start":
        return this.#guard(() => this.#carryOut(command.index));
      case "stop":
        return this.#progress[command.index]!.service!.stop();
      case "settled":
        this.#disown(command.index);
        if (command.outcome.kind === "reused")
          this.#progress[command.index]!.reasons = [{ kind: "not-needed" }];
        return this.#finish(command.index, { outcome: command.outcome, outputs: {} });
      case "ask-to-end":
        return endRunning(this.#progress[command.index]!.running, "askToEnd");
      case "kill":
        return endRunning(this.#progress[command.index]!.running, "kill");
      case "finished":
        return this.#guard(() => this.#end());
      default:
        return unreachable(command);
    }
  }

  /** A bug in `work` ends the run instead of hanging it. */
  #guard(work: () => Promise<void>): void {
    void work().catch(this.#finished.reject);
  }

  #instance(at: number): Instance {
    return this.#options.plan.instances[this.#options.selected[at]!]!;
  }

  async #decide(at: number): Promise<void> {
    const { plan, workspace, stale } = this.#options;
    const instance = this.#instance(at);
    const progress = this.#progress[at]!;
    const context = { plan, workspace, stale, results: this.#results, runners: this.#runners };
    const decision = await decideInstance(instance, context);
    const { action, bound, reasons } = decision;
    if (bound) progress.bound = bound;
    // an instance that waited for the same action is reused for that reason
    const waited = action === "reuse" && progress.reasons?.[0]?.kind === "same-action";
    if (!waited) progress.reasons = reasons;
    switch (action) {
      case "reuse":
        return this.#reuse(at, decision);
      case "same": {
        const same = this.#position.get(decision.runner)!;
        return this.#scheduler.send({ kind: "decided", index: at, decision: "same", same });
      }
      case "run": {
        const begun = reasons.some(({ kind }) => kind === "goes-on");
        return this.#scheduler.send({ kind: "decided", index: at, decision: "run", begun });
      }
      case "leave":
      case "fail":
        return this.#giveUp(at, decision.outcome);
      default:
        return unreachable(action);
    }
  }

  /** Lets another instance with the same action run it. */
  #disown(at: number): void {
    const key = this.#progress[at]!.bound?.key;
    if (key !== undefined && this.#runners.get(key) === this.#instance(at).index) this.#runners.delete(key);
  }

  /** Ends an instance that was not started; the scheduler gets the end like any other. */
  #giveUp(at: number, outcome: Outcome): void {
    this.#finish(at, { outcome, outputs: {} });
    this.#scheduler.send({ kind: "decided", index: at, decision: "failed", outcome });
  }

  #reuse(at: number, { cached, note }: Decision & { action: "reuse" }): void {
    // an accepted stale record is not the last success of the instance
    if (note === undefined) this.#remember(this.#instance(at), this.#progress[at]!.bound!, cached.durationMs);
    this.#finish(at, reusedResult(cached, note));
    this.#scheduler.send({ kind: "decided", index: at, decision: "reuse" });
  }

  #remember(instance: Instance, bound: Bound, durationMs: number): void {
    // what follows from a given result, such as a folder that a person scores, is no success of the plan
    if (instance.stage.name === environmentStage || this.#options.given) return;
    this.#options.workspace.last.put({ id: instance.id, key: bound.key, durationMs });
  }

  async #carryOut(at: number): Promise<void> {
    if (this.#instance(at).execution.service) await this.#serve(at);
    else await this.#execute(at);
  }

  async #serve(at: number): Promise<void> {
    const instance = this.#instance(at);
    const progress = this.#progress[at]!;
    const beginMs = performance.now();
    const log = logPath(this.#options.workspace.state.logs, instance.id);
    const service = new ServiceRun(instance, progress.bound!, {
      ...this.#context,
      reasons: progress.reasons ?? [],
      log,
      serving: (url) => {
        this.#addresses.set(instance.index, url);
        this.#options.onEvent({ kind: "serving", instance, url });
        this.#scheduler.send({ kind: "serving", index: at });
      },
      away: () => this.#scheduler.send({ kind: "away", index: at }),
    });
    progress.service = service;
    progress.running = service;
    const result = await service.carriedOut();
    delete progress.running;
    this.#addresses.delete(instance.index);
    if (result.kind === "lost" && this.#remake(at, result.detail)) return;
    progress.end = { durationMs: Math.round(performance.now() - beginMs), log };
    this.#ended(at, resultOf(result));
  }

  async #execute(at: number): Promise<void> {
    const instance = this.#instance(at);
    const progress = this.#progress[at]!;
    const bound = progress.bound!;
    const beginMs = performance.now();
    const log = logPath(this.#options.workspace.state.logs, instance.id);
    const result = await executeInstance(instance, bound, {
      ...this.#context,
      reasons: progress.reasons ?? [],
      log,
      running: (handle) => {
        if (handle) progress.running = handle;
        else delete progress.running;
      },
      freed: () => this.#scheduler.send({ kind: "freed", index: at }),
    });
    this.#runners.delete(bound.key);
    if (result.kind === "found") {
      progress.reasons = reasonsToReuse(result.cached);
      this.#remember(instance, bound, result.cached.durationMs);
      return this.#ended(at, reusedResult(result.cached));
    }
    if (result.kind === "lost" && this.#remake(at, result.detail)) return;
    progress.end = { durationMs: Math.round(performance.now() - beginMs), log };
    if (result.kind === "succeeded") this.#remember(instance, bound, result.durationMs);
    this.#ended(at, resultOf(result));
  }

  #ended(at: number, result: Result): void {
    this.#finish(at, result);
    this.#scheduler.send({ kind: "ended", index: at, outcome: result.outcome });
  }

  /** Makes missing contents again in this run; false where that was tried before. */
  #remake(at: number, detail: string): boolean {
    const instance = this.#instance(at);
    if (++this.#progress[at]!.losses > 3) return false;
    this.#journal.write({ event: "lost", stage: instance.id, detail });
    this.#options.onEvent({ kind: "retried", instance, detail, remade: true });
    const { store } = this.#options.workspace;
    const producers = [...instance.inputs, ...instance.members]
      .filter(({ from, output }) => {
        const artifact = this.#results[from]?.outputs[output];
        // checks all of them, byte by byte: otherwise another damaged one would be found one attempt later
        return artifact !== undefined && !store.isWhole(artifact);
      })
      .map(({ from }) => this.#position.get(from))
      .filter((one) => one !== undefined);
    this.#scheduler.send({ kind: "lost", index: at, producers });
    return true;
  }

  #finish(at: number, result: Result): void {
    const instance = this.#instance(at);
    const { outcome } = result;
    const { bound, reasons = [], end } = this.#progress[at]!;
    this.#results[instance.index] = { ...result, ...(bound && { key: bound.key }) };
    const line = {
      event: "stage",
      stage: instance.id,
      outcome,
      reasons,
      ...(bound && { key: bound.key }),
      ...end,
    };
    this.#journal.write(line, { later: outcome.kind === "reused" });
    this.#options.onEvent({
      kind: "ended",
      instance,
      outcome,
      reasons,
      durationMs: end?.durationMs ?? 0,
      ...(end?.log && { log: end.log }),
    });
  }

  async #end(): Promise<void> {
    const { workspace } = this.#options;
    this.#scheduler.stop();
    this.#journal.write({ event: "end" });
    this.#journal.close();
    await this.#executors.clearElsewhere();
    await this.#executors.close();
    workspace.digests.save();
    workspace.codes.save();
    if (this.#results.some(failedForTheMachine)) clearUnfinished(workspace.state.state, processName);
    endWork(this.#folder); // last: while the folder exists, the next run knows that a kill may have left files
    this.#finished.resolve(this.#results);
  }

  #runContext(): RunContext {
    const { takeOver = false, unsafeLocal = false, weakLimits = false } = this.#options;
    const { going = new Set(), onEvent } = this.#options;
    return {
      ...this.#options,
      ...{ takeOver, unsafeLocal, weakLimits, going },
      run: this.#run,
      journal: this.#journal,
      folder: this.#folder,
      slots: new WorkSlots(this.#folder.path),
      executorOf: (name) => this.#executors.of(name),
      mayRunWeakly: (instance) => mayRunWeakly(instance, { ...this.#options, results: this.#results }),
      interrupts: () => this.#scheduler.interrupts(),
      addressOf: (service) => this.#addresses.get(service),
      onEvent: (event) => {
        if (event.kind === "waiting")
          this.#journal.write({ event: "waiting", stage: event.instance.id, why: heldWords(event) });
        onEvent(event);
      },
    };
  }
}
