// The services of a run with their users, and the amounts that both hold.
// Pure.
import { type Amounts, type amountsOf, cpusAt, type Resources } from "./amounts.ts";

/** Of an instance: the index of the service that it uses. */
type User = { uses?: number; resources: Resources };

export type ServiceState = {
  /** The instances that use it. */
  users: number[];
  /** The number of them that have not ended. */
  left: number;
  /** It answers. */
  serving: boolean;
  /** The command to end it was given. */
  stopping: boolean;
};

export function servicesOf(work: readonly User[]): Map<number, ServiceState> {
  const services = new Map<number, ServiceState>();
  for (const [index, { uses }] of work.entries()) {
    if (uses === undefined) continue;
    const service = services.getOrInsertComputed(uses, () => ({
      users: [],
      left: 0,
      serving: false,
      stopping: false,
    }));
    service.users.push(index);
    service.left++;
  }
  return services;
}

/** What services and their users hold: a user takes what its service leaves, and a service leaves some CPU. */
export function amountsWithServices(
  work: readonly User[],
  { services, amounts }: { services: Map<number, ServiceState>; amounts: ReturnType<typeof amountsOf> },
): Map<number, Amounts> {
  const cut = new Map<number, Amounts>();
  for (const [index, { users }] of services) {
    const held = amounts
      .wants(work[index]!.resources)
      .map((amount, kind) =>
        kind === cpusAt ? Math.max(1, Math.min(amount, amounts.whole[kind]! - 1)) : amount,
      );
    cut.set(index, held);
    const left = amounts.whole.map((all, kind) => all - held[kind]!);
    const known = new Map<Amounts, Amounts>(); // users with equal requests share a lane of the queue
    for (const user of users) {
      const wanted = amounts.wants(work[user]!.resources);
      cut.set(
        user,
        known.getOrInsertComputed(wanted, () => wanted.map((amount, kind) => Math.min(amount, left[kind]!))),
      );
    }
  }
  return cut;
}
