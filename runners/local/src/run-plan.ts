// Drives a plan: feeds the scheduler, binds what is ready, reuses or carries out, and tells what
// happened. Recovery from a kill is the next run: whatever was recorded is found again by its key.
import { createHash } from "node:crypto";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { Executor, Running } from "@mlrb/core/executor";
import type { Outcome } from "@mlrb/core/outcome";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan";
import type { Reason } from "@mlrb/core/reasons";
import { type Command, type Event, initialState, step, type Work } from "@mlrb/core/schedule";
import { type Bound, bind, type Found, lookUp, type Result, reasonsToRun } from "./bind.ts";
import { type CarriedOut, carryOut, machineFailure } from "./carry-out.ts";
import { Journal } from "./journal.ts";
import { type Lease, takeLease } from "./lease.ts";
import type { Artifact } from "./store.ts";
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
  onEvent: (event: RunEvent) => void;
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

  const finish = (at: number, outcome: Outcome, outputs: Record<string, Artifact>) => {
    const instance = instanceAt(at);
    results[instance.index] = { outcome, outputs };
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
        if (command.outcome.kind === "reused") reasons.set(command.index, [{ kind: "not-needed" }]);
        return finish(command.index, command.outcome, {});
      case "ask-to-end":
        return running.get(command.index)?.askToEnd();
      case "kill":
        return running.get(command.index)?.kill();
      case "finished":
        return guard(async () => {
          workspace.digests.save();
          workspace.codes.save();
          journal.write({ event: "end" });
          journal.close();
          endWork(folder);
          resolve(results);
        });
    }
  };

  const decide = async (at: number) => {
    const instance = instanceAt(at);
    let found: Found | "output-missing" | undefined;
    try {
      const bound = await bind(instance, { plan, workspace, results });
      bounds.set(at, bound);
      found = lookUp(instance, bound, workspace);
    } catch (error) {
      const failure = decisionFailure(error);
      finish(at, failure, {});
      // the scheduler learns of it as of any other end
      send({ kind: "decided", index: at, decision: "failed", outcome: failure });
      return;
    }
    const bound = bounds.get(at)!;
    if (found !== undefined && found !== "output-missing") {
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
    reasons.set(
      at,
      found === "output-missing"
        ? [{ kind: "output-missing" }]
        : reasonsToRun(instance, bound, { plan, workspace }),
    );
    send({ kind: "decided", index: at, decision: "run" });
  };

  const reuse = (at: number, found: Found) => {
    const instance = instanceAt(at);
    const held = reasons.get(at);
    reasons.set(at, held?.[0]?.kind === "same-action" ? held : [{ kind: "unchanged" }]);
    remember(instance, bounds.get(at)!, found.durationMs);
    finish(at, { kind: "reused" }, found.outputs);
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
      lease = await takeLease(workspace.state.leases, bound.key, (owner) =>
        options.onEvent({ kind: "waiting", instance, holder: `process ${owner.pid} on ${owner.host}` }),
      );
      // another run may have done it while this one waited
      const found = lookUp(instance, bound, workspace);
      if (found !== undefined && found !== "output-missing") {
        owners.delete(bound.key);
        reasons.set(at, [{ kind: "unchanged" }]);
        remember(instance, bound, found.durationMs);
        finish(at, { kind: "reused" }, found.outputs);
        send({ kind: "ended", index: at, outcome: { kind: "reused" } });
        return;
      }
      if (state.interrupts > 0) {
        result = { kind: "cancelled" };
      } else {
        const expectedMs = workspace.last.get(instance.id)?.durationMs;
        options.onEvent({ kind: "started", instance, reasons: reasons.get(at) ?? [], log, expectedMs });
        journal.write({ event: "start", stage: instance.id, key: bound.key, reasons: reasons.get(at) ?? [] });
        result = await carryOut(instance, bound, {
          workspace,
          executor: await options.executors[instance.execution.executor]!(),
          run,
          token: `${folder.token}${instance.index}:`,
          work: join(folder.path, String(instance.index)),
          log,
          slot: { pipeline: plan.pipeline, profile: plan.profile },
          inputs: Object.fromEntries(
            instance.inputs.map(({ name, from, output }) => [name, results[from]!.outputs[output]!]),
          ),
          started: (handle) => {
            running.set(at, handle);
            if (state.interrupts === 1) handle.askToEnd();
            if (state.interrupts > 1) handle.kill();
          },
        });
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
    finish(at, outcome, result.kind === "succeeded" ? result.outputs : {});
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
