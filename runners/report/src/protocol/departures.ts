// The departures of a report from its protocol: every difference between what was frozen and what was observed.
// Pure: no disk, no clock.
import { counted } from "@mlrb/core/text/counted";
import type {
  Definition,
  Departure,
  ProtocolFacts,
  ProtocolObservation,
} from "@mlrb/formats/report/protocol";

/** Roles whose results are in no mean, interval or test. */
const besideTables = new Set([
  ...["iterations", "memorisation", "anchor-memorisation", "kinship", "calibration"],
  ...["moment", "moment-causality", "moment-answers", "moment-score"],
]);

/** In a fixed order: protocols of attempts, the plan, attempts, metrics and tests, code and settings. `digest`: of the file. */
export function departures(
  frozen: ProtocolFacts & { digest: string },
  now: ProtocolObservation,
): Departure[] {
  return [
    ...otherProtocols(frozen.digest, now),
    ...planDepartures(frozen, now),
    ...now.happened,
    ...metricDepartures(frozen, now),
    ...analysisDepartures(frozen, now),
    ...stageDepartures(frozen, now),
  ];
}

/** Attempts that started before this protocol was frozen, or since it was changed or exchanged. */
function otherProtocols(digest: string, { started }: ProtocolObservation): Departure[] {
  const others = Map.groupBy(
    started.filter(({ protocol }) => protocol !== digest),
    ({ protocol }) => protocol,
  );
  return [...others].map(
    ([protocol, of]): Departure => ({
      ...{ kind: "other-protocol", where: listed(of.map(({ where }) => where)), primary: "yes" },
      what: `${counted(of.length, "attempt")} started ${protocol === null ? "without a protocol" : `under another protocol, ${protocol.slice(0, 10)}`}`,
    }),
  );
}

function planDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  const before = seedsOf(frozen);
  const after = seedsOf(now);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((cell) => {
    const [old, seeds] = [before.get(cell) ?? [], after.get(cell) ?? []];
    const added = seeds.filter((one) => !old.includes(one));
    const removed = old.filter((one) => !seeds.includes(one));
    const departure = (kind: "added-attempt" | "removed-attempt", list: unknown[]): Departure => ({
      ...{ kind, where: cell, primary: "yes" },
      what: `${list.length === 1 ? "seed" : "seeds"} ${list.join(", ")} ${kind === "added-attempt" ? "added" : "removed"}: n ${old.length} → ${seeds.length}`,
    });
    return [
      ...(added.length > 0 ? [departure("added-attempt", added)] : []),
      ...(removed.length > 0 ? [departure("removed-attempt", removed)] : []),
    ];
  });
}

function seedsOf({ arms }: ProtocolFacts) {
  return new Map(arms.map(({ task, agent, seeds }) => [`${task}, ${agent}`, seeds]));
}

function metricDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  return frozen.tasks.flatMap(({ task, primary, metrics }) => {
    const today = now.tasks.find((one) => one.task === task);
    if (!today) return []; // its attempts are listed as removed
    const changed = (what: string, counts: Departure["primary"]): Departure => ({
      ...{ kind: "changed-metric", where: task, primary: counts, what },
    });
    const removed = metrics.filter((one) => !today.metrics.includes(one));
    const added = today.metrics.filter((one) => !metrics.includes(one));
    return [
      ...(today.primary === primary
        ? []
        : [changed(`primary metric: ${primary ?? "none"} → ${today.primary ?? "none"}`, "yes")]),
      ...(removed.length > 0
        ? [
            changed(
              `no longer measured: ${removed.join(", ")}`,
              removed.includes(primary ?? "") ? "yes" : "no",
            ),
          ]
        : []),
      ...(added.length > 0 ? [changed(`also measured: ${added.join(", ")}`, "no")] : []),
    ];
  });
}

function analysisDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  const textIn = ({ analysis }: ProtocolFacts, name: string) =>
    analysis.find((one) => one.name === name)?.text ?? "not stated";
  const names = [...new Set([...frozen.analysis, ...now.analysis].map(({ name }) => name))];
  return names.flatMap((name): Departure[] => {
    const [old, today] = [textIn(frozen, name), textIn(now, name)];
    if (old === today) return [];
    return [
      {
        ...{ kind: "changed-analysis", where: "", primary: "may" },
        what: `${name}: “${old}” → “${today}”`,
      },
    ];
  });
}

/** One departure for each stage and each set of changed parts, with the instances that it is true of. */
function stageDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  const before = partsByInstance(frozen.definitions);
  const planned = new Set(frozen.definitions.map(({ stage }) => stage));
  const changes = new Map<string, Departure & { instances: string[] }>();
  for (const { stage, role, parts, instances } of now.definitions)
    for (const instance of instances) {
      const old = before.get(instance);
      if (!old && planned.has(stage) && isOfAddition(instance, frozen)) continue;
      const added = planned.has(stage) ? "an instance added that was not planned" : "stage added";
      const what = old ? partChanges(old.parts, parts) : [added];
      const primary = touches(instance, role, now);
      for (const one of what) {
        const key = JSON.stringify([stage, one, primary]);
        const found = changes.get(key);
        if (found) found.instances.push(instance);
        else
          changes.set(key, {
            ...{ kind: "changed-stage", primary, where: "", instances: [instance] },
            what: `${stage}: ${one}`,
          });
      }
    }
  const today = new Set(now.definitions.map(({ stage }) => stage));
  const removed = [...planned].filter((stage) => !today.has(stage));
  return [
    ...[...changes.values()].map(({ instances, ...one }) => ({ ...one, where: listed(instances) })),
    ...removed.map(
      (stage): Departure => ({
        ...{ kind: "changed-plan", where: stage, primary: "may" },
        what: `${stage}: nothing was made by this stage`,
      }),
    ),
  ];
}

/** Whether an instance belongs to an added attempt or metric, which is listed as such. Another new axis is no excuse. */
function isOfAddition(instance: string, { arms, tasks }: ProtocolFacts): boolean {
  const [task, agent, seed, scorer] = ["task", "agent", "seed", "scorer"].map((name) =>
    axisOf(instance, name),
  );
  const own = arms.filter(
    (one) => (task === undefined || one.task === task) && (agent === undefined || one.agent === agent),
  );
  if (own.length === 0) return true;
  if (seed !== undefined && !own.some(({ seeds }) => seeds.some((one) => String(one) === seed))) return true;
  const measured = tasks.filter((one) => task === undefined || one.task === task);
  return scorer !== undefined && !measured.some(({ metrics }) => metrics.includes(scorer));
}

function axisOf(instance: string, name: string): string | undefined {
  return new RegExp(`[[,]${name}=([^,\\]]*)`).exec(instance)?.[1];
}

function partsByInstance(definitions: readonly Definition[]): Map<string, Definition> {
  return new Map(definitions.flatMap((one) => one.instances.map((instance) => [instance, one] as const)));
}

const shortened = /^[0-9a-f]{64}$/;

function partChanges(old: Record<string, string>, now: Record<string, string>): string[] {
  const shown = (value: string | undefined) =>
    value === undefined ? "none" : shortened.test(value) ? value.slice(0, 10) : value;
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .sort()
    .flatMap((name) =>
      old[name] === now[name] ? [] : [`${name} changed (${shown(old[name])} → ${shown(now[name])})`],
    );
}

function touches(instance: string, role: string | null, { tasks }: ProtocolFacts): Departure["primary"] {
  if (role === "attempt" || role === "verdict") return "yes";
  if (role !== null && besideTables.has(role)) return "no";
  if (role !== "score") return "may";
  const primary = tasks.find(({ task }) => task === axisOf(instance, "task"))?.primary;
  return primary === axisOf(instance, "scorer") ? "yes" : "no";
}

const listedMax = 3;

function listed(instances: string[]): string {
  const more = instances.length - listedMax;
  const shown = instances.slice(0, listedMax).join("; ");
  return more > 0 ? `${shown}; and ${more} more` : shown;
}
