// Executes one instance under the lease of its action: waits until no other run executes the action, searches the
// cache again, and carries out the instance. Retries only machine failures.

import { setTimeout as sleep } from "node:timers/promises";
import type { Reason } from "@mlrb/core/key/reasons";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Executor, Running } from "@mlrb/core/ports/executor";
import { formatDuration } from "@mlrb/core/text/units";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { attemptOf } from "../attempts/attempt-folders.ts";
import { cutOffMs, isElsewhere, takeFromHost, whileElsewhere } from "../attempts/attempts-elsewhere.ts";
import { carryOutAttempt } from "../attempts/carry-out-attempt.ts";
import { leftAttempt, lostNames } from "../attempts/left-attempts.ts";
import { protocolInForce } from "../attempts/protocol-in-force.ts";
import type { Bound } from "../decide/bind-inputs.ts";
import { type CachedAction, findCachedAction } from "../decide/find-cached-action.ts";
import { undecidedFailure } from "../decide/run-reasons.ts";
import type { Journal } from "../journal/journal.ts";
import { usesGpusHere } from "../leases/gpu-inventory.ts";
import { type GpuLease, leaseGpus } from "../leases/gpu-leases.ts";
import { type Lease, type Silent, takeLease } from "../leases/lease.ts";
import { lifeOf, ownerWords } from "../leases/owner.ts";
import { estimateCost, isPaid } from "../records/estimate-cost.ts";
import { copiesAttempt } from "../remote/remote-entry.ts";
import { resumesOf } from "../resume/clear-for-resume.ts";
import type { WorkFolder } from "../stage/work-folders.ts";
import { type CarriedOut, machineFailure, type SharedContext } from "./carried-out.ts";
import { carryOut } from "./carry-out.ts";
import { endRunning } from "./end-running.ts";
import { placeLines } from "./place-lines.ts";
import type { RunOptions } from "./run-request.ts";

/** The context that all instances of a run share. */
export type RunContext = SharedContext &
  Pick<RunOptions, "plan" | "silentMs" | "remote" | "supervisors" | "onEvent"> & {
    journal: Journal;
    folder: WorkFolder;
    executorOf: (name: string) => Promise<Executor>;
    takeOver: boolean;
    going: ReadonlySet<string>;
    /** How often the run was interrupted. */
    interrupts: () => number;
    /** The address of a service that serves, by plan index. */
    addressOf: (service: number) => string | undefined;
  };

export type ExecuteOptions = {
  reasons: Reason[];
  log: string;
  /** Called with the handle that can end the instance, and with undefined once there is none. */
  running: (handle: Running | undefined) => void;
  /** Called after success, when the processes are dead and before the outputs are ingested. */
  freed: () => void;
};

export type Executed = CarriedOut | { kind: "found"; cached: CachedAction };

export async function executeInstance(
  instance: Instance,
  bound: Bound,
  context: RunContext & ExecuteOptions,
): Promise<Executed> {
  const { plan, workspace, journal, onEvent } = context;
  let lease: Lease | undefined;
  try {
    const taken = await takeTurn(instance, bound, context);
    const left = taken && "silent" in taken ? leftToSilent(taken) : undefined;
    if (taken && "release" in taken) lease = taken;
    if (lease?.from) {
      const { owner, silentMs } = lease.from;
      journal.write({ event: "take-over", stage: instance.id, owner, silentMs });
      onEvent({ kind: "taken-over", instance, owner, silentMs });
    }
    // another run may have produced the result while this one waited
    if (instance.stage.durable) workspace.attempts.refresh();
    else workspace.actions.refresh();
    const search = findCachedAction(instance, bound, { plan, workspace });
    if (search.kind === "found") return search;
    if (search.kind === "undecided") return undecidedFailure(search);
    if (context.interrupts() > 0 || (!lease && !left)) return { kind: "cancelled" };
    if (left) return left;
    const remote = await takeRemote(instance, bound, context);
    if (remote) return remote;
    const isHeld = () => lease?.isHeld() ?? false;
    const result = await carryThrough(instance, bound, { ...context, isHeld });
    if (result.kind === "succeeded" && !copiesAttempt(instance, plan)) context.remote?.offer(instance, bound);
    return result;
  } catch (error) {
    return machineFailure(error);
  } finally {
    context.running(undefined);
    lease?.release();
  }
}

/** Takes the lease, once no attempt of this key runs on another host: its run, which held the lease, may be gone. */
async function takeTurn(
  instance: Instance,
  bound: Bound,
  { workspace, folder, takeOver, silentMs, interrupts, onEvent }: RunContext & ExecuteOptions,
): Promise<Lease | Silent | undefined> {
  const { leases, running } = workspace.state;
  const wait = {
    silentMs,
    waiting: (owner: Owner) => onEvent({ kind: "waiting", instance, holder: ownerWords(owner) }),
    stopped: () => interrupts() > 0,
  };
  const { durable } = instance.stage;
  let from: Lease["from"];
  for (;;) {
    const taken = await takeLease(leases, bound.key, { ...wait, card: folder.card, durable, takeOver });
    if (!durable || !taken || !("release" in taken)) return taken;
    const there = attemptOf(bound.key, workspace);
    if (!there || !isElsewhere(there)) return from ? { ...taken, from } : taken;
    taken.release(); // a run on its own host may need it
    const silent = await whileElsewhere(there, running, wait);
    if (interrupts() > 0) return undefined;
    if (silent && !takeOver) return silent;
    if (!silent || !takeFromHost(there, silent.beat, { leases, by: folder.card })) continue;
    from = { owner: silent.silent, silentMs: silent.silentMs };
    await sleep(cutOffMs);
  }
}

/** Carries the instance out. An attempt whose supervisor dies meanwhile continues under another one. */
async function carryThrough(
  instance: Instance,
  bound: Bound,
  context: RunContext & ExecuteOptions & { isHeld: () => boolean },
): Promise<CarriedOut> {
  const { workspace, journal, onEvent, reasons, log, interrupts, isHeld } = context;
  const resumes = resumesOf(bound.key, workspace);
  for (let round = 1; ; round++) {
    let gpus: GpuLease | undefined;
    try {
      // a running attempt has its own GPU lease
      const begun = instance.stage.durable ? attemptOf(bound.key, workspace) : undefined;
      const holdsOwn = begun !== undefined && begun.state.kind !== "resumable";
      const held = holdsOwn ? undefined : await holdGpus(instance, context);
      if (held && "kind" in held) return held;
      gpus = held;
      if (round === 1) {
        const expectedMs = workspace.last.get(instance.id)?.durationMs;
        onEvent({ kind: "started", instance, reasons, log, expectedMs });
        journal.write({ event: "start", stage: instance.id, key: bound.key, reasons });
      }
      const result = await withRetries(instance, bound, { ...context, ...(gpus && { gpus }) });
      if (result.kind !== "failed" || interrupts() > 0 || !isHeld() || !resumes.may()) return result;
      const { cause, detail } = result;
      journal.write({ event: "retry", stage: instance.id, tried: round, cause, detail });
      onEvent({ kind: "retried", instance, detail, remade: false });
    } finally {
      gpus?.release();
    }
    await sleep(resumePauseMs);
  }
}

const resumePauseMs = 500;

/** Of an attempt that has not begun to spend: nodes fail and preempt as a matter of course. */
const retriesElsewhere = 3;

/** The result that another machine sent to the remote cache, once it is in the local one. */
async function takeRemote(
  instance: Instance,
  bound: Bound,
  { remote, plan, workspace, running, interrupts, onEvent }: RunContext & ExecuteOptions,
): Promise<Executed | undefined> {
  if (!remote || copiesAttempt(instance, plan)) return undefined;
  const end = new AbortController();
  const abort = () => end.abort();
  running({ ended: new Promise(() => {}), askToEnd: abort, kill: abort });
  const signedBy = await remote.take(instance, bound, {
    signal: end.signal,
    loading: (bytes) => onEvent({ kind: "loading", instance, bytes }),
  });
  running(undefined);
  if (interrupts() > 0) return { kind: "cancelled" };
  if (signedBy === undefined) return undefined;
  const search = findCachedAction(instance, bound, { plan, workspace });
  return search.kind === "found" ? { ...search, cached: { ...search.cached, remote: signedBy } } : undefined;
}

/**
 * Retries failures of the machine, and once a stage whose sources may have changed under it although they are as
 * its key says. A stage that gets a secret is not repeated for this, since it may be billed. An attempt that may
 * have cost something is not restarted without a confirmation, also where an error such as a full disk kept this
 * run from settling it.
 */
async function withRetries(
  instance: Instance,
  bound: Bound,
  context: RunContext & ExecuteOptions & { gpus?: GpuLease; isHeld: () => boolean },
): Promise<CarriedOut> {
  const { plan, workspace, journal, folder, onEvent } = context;
  const { stage, execution } = instance;
  // for an untrusted stage the executor holds only the sandbox; the supervisor runs here
  const executor = await context.executorOf(stage.untrusted ? "local" : execution.executor);
  const supervisor = stage.untrusted ? context.supervisors?.[execution.executor] : undefined;
  let retries = Math.max(
    execution.retries,
    executor.retries ?? (supervisor === undefined ? 0 : retriesElsewhere),
  );
  const carry = stage.durable ? carryOutAttempt : carryOut;
  const estimate = instance.stage.durable ? estimateCost(instance, workspace) : undefined;
  const isPaidAttempt = stage.durable && costs(instance);
  const lostBefore = isPaidAttempt ? lostNames(bound.key, workspace) : new Set<string>();
  let goesOn = costs(instance) && context.going.has(bound.key);
  let before: string | undefined;
  let mayRepeat = !isPaid(instance.action);
  for (let tried = 1; ; tried++) {
    const last = tried > retries;
    const result = await carry(instance, bound, {
      ...context,
      freed() {
        if (!last) return; // another try would need the resources
        context.gpus?.release();
        context.freed();
      },
      ...{ executor, supervisor },
      ...(estimate && { estimate }),
      ...addressesFor(instance, context),
      ...(before !== undefined && { before }),
      token: `${folder.token}${instance.index}:`,
      goesOn,
      left: (name) => onEvent({ kind: "left", instance, name }),
      slot: { pipeline: plan.pipeline, profile: plan.profile },
      protocol: () => protocolInForce(workspace.state.root, plan)?.digest,
      origins: instance.inputs.map(({ from, ...one }) => ({ ...one, stage: plan.instances[from]!.id })),
      ...placeLines(instance, context),
      continued(detail) {
        journal.write({ event: "retry", stage: instance.id, tried, cause: "machine", detail });
        onEvent({ kind: "retried", instance, detail, remade: false });
      },
      undeclared: (texts) => {
        for (const { what, help } of texts) onEvent({ kind: "undeclared", instance, what, help });
      },
      started(handle) {
        context.running(handle);
        if (context.interrupts() > 0) endRunning(handle, context.interrupts() > 1 ? "kill" : "askToEnd");
      },
    });
    if (result.kind !== "failed" || context.interrupts() > 0 || !context.isHeld()) return result;
    const isRepeated = result.unchanged !== undefined && mayRepeat;
    if (isRepeated) [mayRepeat, retries] = [false, retries + 1];
    else if (result.cause !== "machine" || last) return result;
    if (stage.durable && attemptOf(bound.key, workspace)?.state.kind === "resumable") return result; // no new try
    if (isPaidAttempt) {
      const left = result.quarantined ? "other" : leftAttempt(bound.key, workspace, lostBefore);
      if (left === "other") return result;
      goesOn ||= left === "adoptable";
    }
    const { cause } = result;
    const detail = isRepeated
      ? `${result.unchanged} may have changed while it ran, and is now as it was before; the stage runs once more`
      : result.detail;
    before = `try ${tried} of ${retries + 1}: ${detail}`;
    journal.write({ event: "retry", stage: instance.id, tried, cause, detail });
    onEvent({ kind: "retried", instance, detail, remade: false });
    await sleep(Math.min(1000 * 2 ** (tried - 1), 60_000));
  }
}

function addressesFor({ uses }: Instance, { addressOf }: RunContext): { services?: Record<string, string> } {
  const url = uses && addressOf(uses.from);
  return url === undefined ? {} : { services: { [uses!.name]: url } };
}

/** Whether each try may be billed, in dollars or in GPU hours. */
function costs({ action, execution }: Instance): boolean {
  return isPaid(action) || execution.resources.gpus > 0;
}

function leftToSilent({ silent, silentMs }: Silent): CarriedOut {
  const copied = silent.folder !== undefined && lifeOf(silent) !== "elsewhere";
  const holds = `${ownerWords(silent)} ${copied ? "began it in a folder of which this is a copy" : "holds it"}`;
  const gone = copied ? "if the original does not go on" : "if it is gone for good";
  const detail = `${holds} and has been silent for ${formatDuration(silentMs)}; ${gone}, run again with --take-over`;
  return { kind: "failed", cause: "machine", detail };
}

/**
 * Leases the GPUs of an instance before it starts. Undefined if the instance wants no GPU of this host. A result
 * with `kind` is the end of an instance without its GPUs.
 */
export async function holdGpus(
  instance: Instance,
  { run, interrupts, onEvent }: Pick<RunContext, "run" | "interrupts" | "onEvent">,
): Promise<GpuLease | CarriedOut | undefined> {
  if (!usesGpusHere(instance)) return undefined;
  const { gpus: count } = instance.execution.resources;
  const wanted = count === 1 ? "a GPU that it wants" : "GPUs that it wants";
  const lease = await leaseGpus({
    count,
    run,
    stage: instance.id,
    waiting: (holder) => onEvent({ kind: "waiting", instance, holder, wanted }),
    leftOut: (gpu, why) => onEvent({ kind: "gpu-left-out", instance, gpu, why }),
    stopped: () => interrupts() > 0,
  });
  if (!lease) return { kind: "cancelled" };
  return "lacking" in lease ? { kind: "failed", cause: "machine", detail: lease.lacking } : lease;
}
