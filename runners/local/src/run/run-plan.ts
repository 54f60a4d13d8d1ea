// Drives a plan: feeds the scheduler, binds what is ready, reuses or carries out, and tells what
// happened. Recovery from a kill is the next run: whatever was recorded is found again by its key.

import type { Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { Executor, Running } from "@mlrb/core/ports/executor";
import type { Outcome } from "@mlrb/core/ports/outcome";
import { heldWords, queuedFor, queuedWords } from "@mlrb/core/schedule/queued-for";
import { step } from "@mlrb/core/schedule/schedule";
import { type Command, type Event, initialState } from "@mlrb/core/schedule/schedule-state";
import { processName } from "@mlrb/kit/processes/process-name";
import { type Bound, bind } from "../decide/bind-inputs.ts";
import {
  type CachedAction,
  foundRecord,
  lookUp,
  reasonsStale,
  reasonsToRerun,
  reasonsToReuse,
  reasonsToRun,
  type Stale,
} from "../decide/find-cached-action.ts";
import { logPath } from "../stage/log-path.ts";
import { beginWork, endWork, markContainers } from "../stage/work-folders.ts";
import { WorkSlots } from "../stage/work-slots.ts";
import { capacity } from "./capacity.ts";
import { clearContainers } from "./clear-containers.ts";
import { clearUnfinished } from "./clear-unfinished.ts";
import { executeInstance, type RunContext } from "./execute-instance.ts";
import { decisionFailure, failedForTheMachine, outcomeOf, reusedResult } from "./instance-ends.ts";
import { Journal } from "./journal.ts";
import type { Result } from "./result.ts";
import { leftStale, type RunHandle, type RunOptions } from "./run-request.ts";
import { workOf } from "./work-of.ts";

let runs = 0;

/** How soon after the last change it is told what could start and waits. */
const queuedMs = 500;

/** When it began, which of this process's runs it is from the second on, and the process. */
function newRun(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  return `${time}${++runs > 1 ? `.${runs}` : ""}-${processName}`;
}

export function startRun(options: RunOptions): RunHandle {
  const { plan, selected, workspace } = options;
  const run = newRun();
  const position = new Map(selected.map((index, at) => [index, at]));
  const works = selected.map((index) => workOf(plan.instances[index]!, { position, workspace }));
  const journal = new Journal(workspace.state.journals, run);
  const results = plan.instances.map(({ index }) => options.given?.get(index));
  const bounds = new Map<number, Bound>();
  const reasons = new Map<number, Reason[]>();
  const running = new Map<number, Running>();
  const owners = new Map<string, number>(); // action key → position that runs it in this run
  const ends = new Map<number, { durationMs: number; log?: string }>();
  const losses = new Map<number, number>();
  const folder = beginWork(workspace.state.work, run);
  const executors = new Map<string, Promise<Executor>>();
  const executorOf = (name: string) => {
    const held = executors.get(name) ?? options.executors[name]!({ run, state: workspace.state });
    // what it starts may outlive this run; the next one then looks
    if (name !== "local") markContainers(folder.path);
    executors.set(name, held);
    return held;
  };

  const whole = capacity(options);
  let state = initialState(works, { capacity: whole, failFast: options.failFast });
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
    if (!over && !tellQueued) tellQueued = setTimeout(sayQueued, queuedMs).unref();
  };
  let tellQueued: NodeJS.Timeout | undefined;
  let saidQueued = "";
  let over = false;
  /** For those who look at the run from outside. A moment later: most that could start does so at once. */
  const sayQueued = () => {
    tellQueued = undefined;
    const waits = queuedWords(queuedFor(state, whole));
    if (waits !== saidQueued) journal.write({ event: "queued", waits });
    saidQueued = waits;
  };
  /** Runs `work`, and turns what it throws into the end of the run: a bug must not hang it. */
  const guard = (work: () => Promise<void>) => void work().catch(reject);

  const finish = (at: number, result: Result) => {
    const instance = instanceAt(at);
    const { outcome } = result;
    results[instance.index] = result;
    const ran = ends.get(at);
    const why = reasons.get(at) ?? [];
    journal.write(
      {
        event: "stage",
        stage: instance.id,
        outcome,
        reasons: why,
        ...(bounds.get(at) && { key: bounds.get(at)!.key }),
        ...ran,
      },
      { later: outcome.kind === "reused" },
    );
    options.onEvent({
      kind: "ended",
      instance,
      outcome,
      reasons: why,
      durationMs: ran?.durationMs ?? 0,
      ...(ran?.log && { log: ran.log }),
    });
  };

  const askToEnd = (handle: Running | undefined) => (handle?.leave ? handle.leave() : handle?.askToEnd());
  const kill = (handle: Running | undefined) => (handle?.leave ? handle.leave() : handle?.kill());

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
        return askToEnd(running.get(command.index));
      case "kill":
        return kill(running.get(command.index));
      case "finished":
        return guard(async () => {
          over = true;
          clearTimeout(tellQueued);
          journal.write({ event: "end" });
          journal.close();
          await clearContainers(workspace.state.work, Object.keys(options.executors), executorOf);
          for (const executor of executors.values()) await (await executor).close?.();
          workspace.digests.save();
          workspace.codes.save();
          if (results.some(failedForTheMachine)) clearUnfinished(workspace.state.state, processName);
          endWork(folder); // last: as long as it is there, the next run knows what a kill may have left
          resolve(results);
        });
    }
  };

  const decide = async (at: number) => {
    const instance = instanceAt(at);
    let found: CachedAction | Stale | "output-missing" | undefined;
    try {
      bounds.set(at, await bind(instance, { plan, workspace, results }));
      found = lookUp(instance, bounds.get(at)!, { plan, workspace });
    } catch (error) {
      const outcome = decisionFailure(error);
      reasons.set(at, [{ kind: "cannot-start", detail: outcome.detail }]);
      giveUp(at, outcome);
      return;
    }
    const bound = bounds.get(at)!;
    if (typeof found === "object" && "stale" in found) {
      const { stale } = found;
      const changed = reasonsStale(instance, bound, stale, plan);
      const reason = { kind: "stale", record: stale.digest, changed } as const;
      if (options.stale.kind === "accept") {
        const { why } = options.stale;
        reasons.set(at, [{ kind: "stale-accepted", record: stale.digest, why }]);
        reuse(at, foundRecord(stale, workspace), `stale, accepted: ${why}`);
        return;
      }
      const rerun = options.stale.kind === "rerun";
      reasons.set(at, rerun ? reasonsToRerun(reason, bound, workspace) : [reason]);
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

  const reuse = (at: number, found: CachedAction, note?: string) => {
    const instance = instanceAt(at);
    const held = reasons.get(at)?.[0]?.kind;
    if (held !== "same-action" && held !== "stale-accepted")
      reasons.set(at, reasonsToReuse(bounds.get(at)!, instance));
    if (note === undefined) remember(instance, bounds.get(at)!, found.durationMs);
    finish(at, reusedResult(found, note));
    send({ kind: "decided", index: at, decision: "reuse" });
  };

  const remember = (instance: Instance, bound: Bound, durationMs: number) => {
    if (instance.stage.name !== environmentStage)
      workspace.last.put({ id: instance.id, key: bound.key, durationMs });
  };

  const context: RunContext = {
    run,
    plan,
    workspace,
    journal,
    folder,
    slots: new WorkSlots(folder.path),
    executorOf,
    takeOver: options.takeOver ?? false,
    unsafeLocal: options.unsafeLocal ?? false,
    clearSandbox: options.clearSandbox,
    purse: options.purse,
    silentMs: options.silentMs,
    going: options.going ?? new Set(),
    interrupts: () => state.interrupts,
    askToEnd,
    kill,
    onEvent(event) {
      if (event.kind === "waiting")
        journal.write({ event: "waiting", stage: event.instance.id, why: heldWords(event) });
      options.onEvent(event);
    },
  };

  const execute = async (at: number) => {
    const instance = instanceAt(at);
    const bound = bounds.get(at)!;
    const begin = performance.now();
    const log = logPath(workspace.state.logs, instance.id);
    const result = await executeInstance(instance, bound, {
      ...context,
      reasons: reasons.get(at) ?? [],
      log,
      running: (handle) => (handle ? running.set(at, handle) : running.delete(at)),
      freed: () => send({ kind: "freed", index: at }),
    });
    owners.delete(bound.key);
    if (result.kind === "found") {
      reasons.set(at, reasonsToReuse(bound, instance));
      remember(instance, bound, result.found.durationMs);
      finish(at, reusedResult(result.found));
      send({ kind: "ended", index: at, outcome: { kind: "reused" } });
      return;
    }
    if (result.kind === "lost" && askAgain(at, result.detail)) return;
    ends.set(at, { durationMs: Math.round(performance.now() - begin), log });
    const outcome = outcomeOf(result);
    if (result.kind !== "succeeded") {
      const quarantined = result.kind === "failed" ? result.quarantined : undefined;
      finish(at, { outcome, outputs: {}, ...(quarantined && { quarantined }) });
    } else {
      remember(instance, bound, result.durationMs);
      const { outputs, record } = result;
      finish(at, { outcome, outputs, ...(record && { record }) });
    }
    send({ kind: "ended", index: at, outcome });
  };

  /** Has what is gone from the store made anew, in this run; false where it has been tried before. */
  const askAgain = (at: number, detail: string): boolean => {
    const instance = instanceAt(at);
    const tried = (losses.get(at) ?? 0) + 1;
    losses.set(at, tried);
    if (tried > 3) return false;
    journal.write({ event: "lost", stage: instance.id, detail });
    options.onEvent({ kind: "retried", instance, detail, remade: true });
    const producers = [...instance.inputs, ...instance.members]
      .filter(({ from, output }) => {
        const artifact = results[from]?.outputs[output];
        // all of them, byte by byte: one that is damaged too would be found one attempt later
        return artifact !== undefined && !workspace.store.isWhole(artifact);
      })
      .map(({ from }) => position.get(from))
      .filter((one) => one !== undefined);
    send({ kind: "lost", index: at, producers });
    return true;
  };

  journal.write({
    event: "begin",
    run,
    pipeline: plan.pipeline,
    profile: plan.profile,
    selection: plan.selection,
  });
  queueMicrotask(() => send({ kind: "begin" }));
  return {
    run,
    finished,
    queued: () => queuedFor(state, whole),
    interrupt: () => send({ kind: "interrupt" }),
  };
}
