// The departures that are about single attempts.
// Pure: no disk, no clock.
import type {
  Departure,
  ObservedAttempt,
  Protocol,
  ProtocolObservation,
} from "@mlrb/formats/report/protocol";

export function attemptDepartures(frozen: Protocol, { attempts }: ProtocolObservation): Departure[] {
  return [
    ...attempts.flatMap((one) => [
      ...startedBefore(frozen, one),
      ...missing(one),
      ...otherTries(frozen, one),
      ...handled(one),
      ...decisions(frozen, one),
    ]),
    ...removedEarlier(frozen, attempts),
  ];
}

function at({ task, agent, seed }: Pick<ObservedAttempt, "task" | "agent" | "seed">): string {
  return `${task}, ${agent}, seed ${seed}`;
}

const isSame = (one: { startedAt: string }, startedAt: string) => one.startedAt === startedAt;

/** By the attempt's clock, or because the protocol lists it: a wrong clock hides nothing that was here then. */
function startedBefore(frozen: Protocol, one: ObservedAttempt): Departure[] {
  const known = frozen.before.filter((each) => at(each) === at(one));
  const startedAt = one.used?.startedAt;
  const isEarly =
    startedAt !== undefined && (startedAt < frozen.frozenAt || known.some((each) => isSame(each, startedAt)));
  if (!isEarly) return [];
  return [
    {
      ...{ kind: "started-before", where: at(one), when: startedAt, primary: "yes" },
      what: "started before the protocol was frozen",
    },
  ];
}

function missing(one: ObservedAttempt): Departure[] {
  if (one.missing === null) return [];
  return [
    {
      ...{ kind: "missing-attempt", where: at(one), when: null, primary: "yes" },
      what: `missing: ${one.missing}`,
    },
  ];
}

const triedWords = {
  recorded: "another recorded attempt",
  lost: "another attempt, without a record",
  running: "another attempt, still running",
} as const;

function otherTries(frozen: Protocol, one: ObservedAttempt): Departure[] {
  return one.others.map(({ kind, startedAt, cause }): Departure => {
    const early = startedAt < frozen.frozenAt ? ", before the protocol was frozen" : "";
    const why = cause === "" ? "" : `: ${cause}`;
    return {
      ...{ kind: "repeated-attempt", where: at(one), when: startedAt, primary: "yes" },
      what: `${triedWords[kind]}${early}, which the tables do not use${why}`,
    };
  });
}

function handled(one: ObservedAttempt): Departure[] {
  const departure = (kind: Departure["kind"], what: string): Departure => ({
    ...{ kind, where: at(one), when: null, primary: "yes", what },
  });
  return [
    ...(one.resumed > 0 ? [departure("resumed-attempt", `resumed, ${times(one.resumed)}`)] : []),
    ...(one.extensions > 0
      ? [departure("extended-attempt", `extended, ${times(one.extensions)}; it leaves the primary tables`)]
      : []),
    ...(one.isImported ? [departure("imported-attempt", "made on another machine and imported")] : []),
    ...(one.note === "" ? [] : [departure("accepted-attempt", one.note)]),
  ];
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function decisions(frozen: Protocol, one: ObservedAttempt): Departure[] {
  return one.decisions.map(({ rule, verdict, by, decidedAt }): Departure => {
    const early = decidedAt !== null && decidedAt < frozen.frozenAt ? ", before the protocol was frozen" : "";
    return {
      ...{ kind: "adjudication", where: at(one), when: decidedAt, primary: "yes" },
      what: `${by} decided ${verdict} on the rule ${rule}${early}`,
    };
  });
}

/** Attempts that were here when the protocol was frozen, and that neither tables nor other tries show any more. */
function removedEarlier(frozen: Protocol, attempts: ObservedAttempt[]): Departure[] {
  const shown = new Set(
    attempts.flatMap((one) =>
      [...(one.used ? [one.used] : []), ...one.others].map(({ startedAt }) => `${at(one)} ${startedAt}`),
    ),
  );
  return frozen.before
    .filter((each) => !shown.has(`${at(each)} ${each.startedAt}`))
    .map(
      (each): Departure => ({
        ...{ kind: "started-before", where: at(each), when: each.startedAt, primary: "may" },
        what: "started before the protocol was frozen, and no longer here",
      }),
    );
}
