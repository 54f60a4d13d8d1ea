// Services in the schedule: a service runs for as long as instances need it, and holds resources meanwhile. An
// instance uses one service at most and holds nothing while it waits for it. Rules against deadlocks: - A user
// fits on the machine with its service: what is too much of it is cut, as from a request above the capacity. - A
// service starts only where each user of each running service would still fit. - An instance that cannot start
// while services run reserves nothing, and an idle service ends for it. Pure.
import type { Amounts } from "./amounts.ts";
import type { ScheduleState } from "./schedule-state.ts";
import type { ServiceState } from "./service-amounts.ts";

export function isServing(state: ScheduleState, index: number): boolean {
  const service = state.services.get(index);
  return service?.serving === true && !service.stopping;
}

/** Counts the end of a user (-1), or that it is to be done once more (1). */
export function countUser(state: ScheduleState, index: number, by: 1 | -1): void {
  const { uses } = state.work[index]!;
  if (uses !== undefined) state.services.get(uses)!.left += by;
}

/**
 * Whether an instance could start, once all that is no service has ended. Of several services one may start at a
 * time, since each changes what fits. `blocked()`: whether a ready instance could not.
 */
export function startsNextToServices(state: ScheduleState): {
  startable: (index: number) => boolean;
  blocked: () => boolean;
} {
  const running = [...state.services.keys()].filter((index) => state.running.has(index));
  const known = new Map<string, boolean>();
  let blocked = false;
  let chosen: number | undefined;
  const isStartable = (index: number) => {
    const together = [...running, index];
    if (!state.services.has(index)) return fits(state, together);
    return together.every((one) => usersOf(state, one).every((user) => fits(state, together, user)));
  };
  const startable = (index: number) => {
    const key = state.services.has(index) ? `service ${index}` : state.wants(index).join(" ");
    const could = known.getOrInsertComputed(key, () => isStartable(index));
    if (!could && state.phase[index] === "ready") blocked = true;
    if (!could || !state.services.has(index)) return could;
    chosen ??= index;
    return chosen === index;
  };
  return { startable, blocked: () => blocked };
}

/**
 * What an instance must leave free: the amounts of users that a dead run began, and of the services that they wait
 * for. Such a user runs already, and is lost if its service does not come. Where nothing else can go on, nothing
 * is kept: a service that answers goes on only through its users.
 */
export function keptForBegun(state: ScheduleState): { leaves: (index: number) => boolean } {
  const kept = state.whole.map(() => 0);
  const waitedFor = new Set<number>();
  const keep = (index: number) => {
    for (const [kind, amount] of state.wants(index).entries()) kept[kind]! += amount;
  };
  for (const index of state.begun) {
    const { uses } = state.work[index]!;
    if (state.phase[index] !== "parked" || uses === undefined || isServing(state, uses)) continue;
    keep(index);
    if (!waitedFor.has(uses) && !state.running.has(uses)) keep(uses);
    waitedFor.add(uses);
  }
  const willEnd = (index: number) => !state.services.has(index) || !isServing(state, index);
  const mayStart = (index: number) =>
    state.phase[index] === "ready" && startsNextToServices(state).startable(index);
  const goesOn =
    state.deciding > 0 || [...state.running].some(willEnd) || [...waitedFor, ...state.begun].some(mayStart);
  const leaves = (index: number) =>
    waitedFor.size === 0 ||
    !goesOn ||
    waitedFor.has(index) ||
    state.begun.has(index) ||
    kept.every((amount, kind) => amount === 0 || state.wants(index)[kind]! + amount <= state.free[kind]!);
  return { leaves };
}

/** The amounts of the users of a service, each once. */
function usersOf(state: ScheduleState, service: number): Amounts[] {
  return [...new Set(state.services.get(service)!.users.map((user) => state.wants(user)))];
}

function fits({ whole, wants }: ScheduleState, indices: number[], more?: Amounts): boolean {
  return whole.every(
    (all, kind) => indices.reduce((sum, index) => sum + wants(index)[kind]!, 0) + (more?.[kind] ?? 0) <= all,
  );
}

/**
 * The running services that are to end now; each is returned once. `makeWay`: idle ones are not to wait for their
 * next user, because the run ends or because an instance cannot start next to them.
 */
export function servicesToStop(state: ScheduleState, makeWay: boolean): number[] {
  const running = [...state.services].filter(([index]) => state.running.has(index));
  if (running.length === 0) return [];
  const alone = state.running.size === running.length && state.ready.size === 0 && state.deciding === 0;
  const stopped = running.filter(
    ([index, one]) => !one.stopping && (one.left === 0 || ((makeWay || alone) && isIdle(state, index, one))),
  );
  for (const [, one] of stopped) one.stopping = true;
  return stopped.map(([index]) => index);
}

/** No user runs, is about to start, or waits for its first answer. */
function isIdle(state: ScheduleState, index: number, { users }: ServiceState): boolean {
  if (state.dependents[index]!.length > 0) return false;
  return !users.some((user) => state.phase[user] === "ready" || state.phase[user] === "running");
}
