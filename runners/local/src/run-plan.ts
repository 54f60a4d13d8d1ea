// Drives a plan: feeds the scheduler, binds what is ready, reuses or carries out, and tells what
// happened. Recovery from a kill is the next run: whatever was recorded is found again by its key.
import { createHash } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Executor, Running } from "@mlrb/core/executor";
import type { Outcome } from "@mlrb/core/outcome";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan";
import type { Reason } from "@mlrb/core/reasons";
import { type Command, type Event, initialState, step, type Work } from "@mlrb/core/schedule";
import type { HeldRecord } from "./attempt-records.ts";
import { type Bound, bind } from "./bind.ts";
import { type CarriedOut, carryOut, machineFailure } from "./carry-out.ts";
import { clearUnfinished } from "./clear-unfinished.ts";
import { Journal } from "./journal.ts";
import { type Lease, takeLease } from "./lease.ts";
import { type Found, foundRecord, lookUp, reasonsStale, reasonsToRun, type Stale } from "./look-up.ts";
import type { Result } from "./result.ts";
import { beginWork, endWork } from "./work-folders.ts";
import type { Workspace } from "./workspace.ts";

export type RunEvent =
  | { kind: "started"; instance: Instance; reasons: Reason[]; log: string; expectedMs: number | undefined }
  | { kind: "waiting"; instance: Instance; holder: string }
  | {
      kind: "ended";
      instance: Instance;
      outcome: Outcome;
      reasons: Reason[];
      durationMs: number;
      log?: string;
    }
  | { kind: "trouble"; message: string };

export type RunOptions = {
  plan: Plan;
  /** Indices of the instances to bring up to date, in plan order. */
  selected: number[];
  workspace: Workspace;
  /** Loaded when the first stage starts: a run that reuses everything needs none. */
  executors: Record<string, () => Promise<Executor>>;
  /** CPU slots. */
  jobs?: number | undefined;
  failFast: boolean;
  stale: StalePolicy;
  onEvent: (event: RunEvent) => void;
};

/** What becomes of an attempt whose record was made from other things than it would be now. */
export type StalePolicy =
  /** Nothing: it is neither run nor used, and the run says so. */
  | { kind: "leave" }
  | { kind: "rerun" }
  /** The old record counts, and the tables say why. */
  | { kind: "accept"; why: string };

/** How a stale attempt ends that is left as it is. */
export const leftStale: Outcome = {
  kind: "skipped",
  because: "a decision: its record is stale (--rerun, or --accept-stale with a reason)",
};

export type RunHandle = {
  run: string;
  /** Results by plan index; undefined where not selected. */
  finished: Promise<(Result | undefined)[]>;
  /** Once: nothing new starts, what runs is asked to end. Twice: everything is killed. */
  interrupt(): void;
};

/** Where the log of an instance's last execution lies, whatever pipeline ran it. */
export function logPath(logs: string, id: string): string {
  const name = createHash("sha256").update(id).digest("hex").slice(0, 16);
  return join(logs, `${id.replace(/\[.*$/, "")}-${name}.log`);
}

export function startRun(options: RunOptions): RunHandle {
  const { plan, selected, workspace } = options;
  const run = `${new Date().toISOString().replace(/[-:]/g, "").replace(/\..*$/, "Z")}-${process.pid}`;
  const position = new Map(selected.map((index, at) => [index, at]));
  const works = selected.map((index) => workOf(plan.instances[index]!, { position, workspace }));
  const capacity = { cpus: options.jobs ?? availableParallelism(), memoryBytes: totalmem(), gpus: 0 };
  const journal = new Journal(workspace.state.journals, run);
  const results: (Result | undefined)[] = plan.instances.map(() => undefined);
  const bounds = new Map<number, Bound>();
  const reasons = new Map<number, Reason[]>();
  const running = new Map<number, Running>();
  const owners = new Map<string, number>(); // action key → position that runs it in this run
  const ends = new Map<number, { durationMs: number; log?: string }>();
  const folder = beginWork(workspace.state.work, run);

  let state = initialState(works, { capacity, failFast: options.failFast });
  const { promise: finished, resolve, reject } = Promise.withResolvers<(Result | undefined)[]>();
  const instanceAt = (at: number) => plan.instances[selected[at]!]!;

  const queue: Event[] = [];
  let draining = false;
  const send = (event: Event) => {
    queue.push(event);
    if (draining) return;
    draining = true;
    try {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const result = step(state, next);
        state = result.state;
        for (const command of result.commands) obey(command);
      }
    } catch (error) {
      reject(error);
    } finally {
      draining = false;
    }
  };
  /** Runs `work`, and turns what it throws into the end of the run: a bug must not hang it. */
  const guard = (work: () => Promise<void>) => void work().catch(reject);

  const finish = (at: number, result: Result) => {
    const instance = instanceAt(at);
    const { outcome } = result;
    results[instance.index] = result;
    const ran = ends.get(at);
    const why = reasons.get(at) ?? [];
    journal.write({
      event: "stage",
      stage: instance.id,
      outcome,
      reasons: why,
      ...(bounds.get(at) && { key: bounds.get(at)!.key }),
      ...ran,
    });
    options.onEvent({
      kind: "ended",
      instance,
      outcome,
      reasons: why,
      durationMs: ran?.durationMs ?? 0,
      ...(ran?.log && { log: ran.log }),
    });
  };

  const obey = (command: Command) => {
    switch (command.kind) {
      case "decide":
        return guard(() => decide(command.index));
      case "start":
        return guard(() => execute(command.index));
      case "settled":
        disown(command.index);
        if (command.outcome.kind === "reused") reasons.set(command.index, [{ kind: "not-needed" }]);
        return finish(command.index, { outcome: command.outcome, outputs: {} });
      case "ask-to-end":
        return running.get(command.index)?.askToEnd();
      case "kill":
        return running.get(command.index)?.kill();
      case "finished":
        return guard(async () => {
          journal.write({ event: "end" });
          journal.close();
          workspace.digests.save();
          workspace.codes.save();
          if (results.some(failedForTheMachine)) clearUnfinished(workspace.state.state, process.pid);
          endWork(folder); // last: as long as it is there, the next run knows what a kill may have left
          resolve(results);
        });
    }
  };

  const decide = async (at: number) => {
    const instance = instanceAt(at);
    let found: Found | Stale | "output-missing" | undefined;
    try {
      bounds.set(at, await bind(instance, { plan, workspace, results }));
      found = lookUp(instance, bounds.get(at)!, { plan, workspace });
    } catch (error) {
      giveUp(at, decisionFailure(error));
      return;
    }
    const bound = bounds.get(at)!;
    if (typeof found === "object" && "stale" in found) {
      const { stale } = found;
      const changed = reasonsStale(instance, bound, stale, plan);
      const reason: Reason = { kind: "stale", record: stale.digest, changed };
      if (options.stale.kind === "accept") {
        const { why } = options.stale;
        reasons.set(at, [{ kind: "stale-accepted", record: stale.digest, why }]);
        reuse(at, foundRecord(stale, workspace), `stale, accepted: ${why}`);
        return;
      }
      reasons.set(at, [reason]);
      if (options.stale.kind === "leave") {
        giveUp(at, leftStale);
        return;
      }
    } else if (found !== undefined && found !== "output-missing") {
      reuse(at, found);
      return;
    }
    const runner = owners.get(bound.key);
    if (runner !== undefined) {
      reasons.set(at, [{ kind: "same-action", stage: instanceAt(runner).id }]);
      send({ kind: "decided", index: at, decision: "same", same: runner });
      return;
    }
    owners.set(bound.key, at);
    if (found === "output-missing") reasons.set(at, [{ kind: "output-missing" }]);
    else if (found === undefined) reasons.set(at, reasonsToRun(instance, bound, { plan, workspace }));
    send({ kind: "decided", index: at, decision: "run" });
  };

  /** Lets another instance with the same action run it. */
  const disown = (at: number) => {
    const key = bounds.get(at)?.key;
    if (key !== undefined && owners.get(key) === at) owners.delete(key);
  };

  /** Ends an instance that was not started; the scheduler learns of it as of any other end. */
  const giveUp = (at: number, outcome: Outcome) => {
    finish(at, { outcome, outputs: {} });
    send({ kind: "decided", index: at, decision: "failed", outcome });
  };

  const reuse = (at: number, found: Found, note?: string) => {
    const instance = instanceAt(at);
    const held = reasons.get(at)?.[0]?.kind;
    if (held !== "same-action" && held !== "stale-accepted") reasons.set(at, [{ kind: "unchanged" }]);
    if (note === undefined) remember(instance, bounds.get(at)!, found.durationMs);
    finish(at, reusedResult(found, note));
    send({ kind: "decided", index: at, decision: "reuse" });
  };

  const remember = (instance: Instance, bound: Bound, durationMs: number) => {
    if (instance.stage.name !== environmentStage)
      workspace.last.put({ id: instance.id, key: bound.key, durationMs });
  };

  const execute = async (at: number) => {
    const instance = instanceAt(at);
    const bound = bounds.get(at)!;
    const begin = performance.now();
    const log = logPath(workspace.state.logs, instance.id);
    let lease: Lease | undefined;
    let result: CarriedOut;
    try {
      lease = await takeLease(workspace.state.leases, bound.key, {
        card: folder.card,
        waiting: ({ pid, host }) =>
          options.onEvent({ kind: "waiting", instance, holder: `process ${pid} on ${host}` }),
        stopped: () => state.interrupts > 0,
      });
      // another run may have done it while this one waited
      if (instance.stage.durable) workspace.attempts.refresh();
      const found = lookUp(instance, bound, { plan, workspace });
      if (typeof found === "object" && !("stale" in found)) {
        owners.delete(bound.key);
        reasons.set(at, [{ kind: "unchanged" }]);
        remember(instance, bound, found.durationMs);
        finish(at, reusedResult(found));
        send({ kind: "ended", index: at, outcome: { kind: "reused" } });
        return;
      }
      if (state.interrupts > 0) {
        result = { kind: "cancelled" };
      } else {
        const expectedMs = workspace.last.get(instance.id)?.durationMs;
        options.onEvent({ kind: "started", instance, reasons: reasons.get(at) ?? [], log, expectedMs });
        journal.write({ event: "start", stage: instance.id, key: bound.key, reasons: reasons.get(at) ?? [] });
        const executor = await options.executors[instance.execution.executor]!();
        const once = () =>
          carryOut(instance, bound, {
            workspace,
            executor,
            run,
            token: `${folder.token}${instance.index}:`,
            work: join(folder.path, String(instance.index)),
            log,
            slot: { pipeline: plan.pipeline, profile: plan.profile },
            origins: instance.inputs.map(({ name, from, output }) => ({
              name,
              stage: plan.instances[from]!.id,
              output,
            })),
            started: (handle) => {
              running.set(at, handle);
              if (state.interrupts === 1) handle.askToEnd();
              if (state.interrupts > 1) handle.kill();
            },
          });
        result = await once();
        // only what was not its own fault is worth another try
        for (let tried = 1; tried <= instance.execution.retries; tried++) {
          if (result.kind !== "failed" || result.cause !== "machine" || state.interrupts > 0) break;
          journal.write({
            event: "retry",
            stage: instance.id,
            tried,
            cause: result.cause,
            detail: result.detail,
          });
          options.onEvent({ kind: "trouble", message: `again   ${instance.id}  (${result.detail})` });
          await sleep(Math.min(1000 * 2 ** (tried - 1), 60_000));
          result = await once();
        }
      }
    } catch (error) {
      result = machineFailure(error);
    } finally {
      running.delete(at);
      lease?.release();
    }
    owners.delete(bound.key);
    ends.set(at, { durationMs: Math.round(performance.now() - begin), log });
    if (result.kind === "succeeded") remember(instance, bound, result.durationMs);
    const outcome: Outcome = result.kind === "succeeded" ? { kind: "succeeded" } : result;
    const record: HeldRecord | undefined = result.kind === "succeeded" ? result.record : undefined;
    finish(at, {
      outcome,
      outputs: result.kind === "succeeded" ? result.outputs : {},
      ...(record && { record }),
    });
    send({ kind: "ended", index: at, outcome });
  };

  journal.write({
    event: "begin",
    run,
    pipeline: plan.pipeline,
    profile: plan.profile,
    selection: plan.selection,
  });
  queueMicrotask(() => send({ kind: "begin" }));
  return { run, finished, interrupt: () => send({ kind: "interrupt" }) };
}

/** Whether a call of this process failed, which may have left something half done. */
function failedForTheMachine(result: Result | undefined): boolean {
  return result?.outcome.kind === "failed" && result.outcome.cause === "machine";
}

function reusedResult({ outputs, record }: Found, note?: string): Result {
  return {
    outcome: { kind: "reused" },
    outputs,
    ...(record && { record }),
    ...(note !== undefined && { note }),
  };
}

function decisionFailure(error: unknown): Outcome & { kind: "failed" } {
  if (error instanceof Error && /cannot be bundled/.test(error.message)) {
    return { kind: "failed", cause: "exit-code", detail: error.message };
  }
  return machineFailure(error);
}

/** An instance as the scheduler sees it, by position in the selection. What is not selected does not hold it up. */
function workOf(instance: Instance, context: { position: Map<number, number>; workspace: Workspace }): Work {
  const { position, workspace } = context;
  const positions = (indices: number[]) =>
    [...new Set(indices)].map((index) => position.get(index)).filter((at) => at !== undefined);
  const environment = instance.environment === undefined ? undefined : position.get(instance.environment);
  return {
    id: instance.id,
    needs: positions(instance.inputs.map(({ from }) => from)),
    collects: positions(instance.members.map(({ from }) => from)),
    ...(environment !== undefined && { environment }),
    resources: instance.execution.resources,
    expectedMs: workspace.last.get(instance.id)?.durationMs ?? 1000,
    lazy: instance.stage.name === environmentStage,
  };
}
