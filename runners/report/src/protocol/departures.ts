// The departures of a report from its protocol: every difference between what was frozen and what was observed.
// Pure: no disk, no clock.
import { counted } from "@mlrb/core/text/counted";
import type { Departure, ProtocolFacts, ProtocolObservation } from "@mlrb/formats/report/protocol";
import { grouped } from "../sections/report-words.ts";

/** Roles whose results are in no mean, interval or test. */
const besideTables = new Set([
  ...["iterations", "memorisation", "overlap", "reference-memorisation", "kinship", "calibration"],
  ...["checkpoint", "checkpoint-causality", "checkpoint-answers", "checkpoint-score"],
  ...["dev-answers", "dev-score"],
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
  const others = started.filter(({ protocol }) => protocol !== digest);
  return [...Map.groupBy(others, ({ protocol }) => protocol)].map(([protocol, of]) => ({
    ...{ kind: "other-protocol", where: listed(of.map(({ where }) => where)), primary: "yes" },
    what: `${counted(of.length, "attempt")} started ${protocol === null ? "without a protocol" : `under another protocol, ${protocol.slice(0, 10)}`}`,
  }));
}

function planDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  const before = seedsOf(frozen);
  const after = seedsOf(now);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((cell) => {
    const [old, seeds] = [before.get(cell) ?? [], after.get(cell) ?? []];
    const changed = (kind: "added" | "removed", list: unknown[]): Departure[] => {
      if (list.length === 0) return [];
      const what = `${list.length === 1 ? "seed" : "seeds"} ${list.join(", ")} ${kind}: n ${old.length} → ${seeds.length}`;
      return [{ kind: `${kind}-attempt`, where: cell, primary: "yes", what }];
    };
    const added = seeds.filter((one) => !old.includes(one));
    const removed = old.filter((one) => !seeds.includes(one));
    return [...changed("added", added), ...changed("removed", removed)];
  });
}

function seedsOf({ arms }: ProtocolFacts) {
  return new Map(arms.map(({ task, agent, seeds }) => [`${task}, ${agent}`, seeds]));
}

function metricDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  return frozen.tasks.flatMap(({ task, primary, metrics }) => {
    const today = now.tasks.find((one) => one.task === task);
    if (!today) return []; // its attempts are listed as removed
    const removed = metrics.filter((one) => !today.metrics.includes(one));
    const added = today.metrics.filter((one) => !metrics.includes(one));
    const changed = (isSo: boolean, what: string, isPrimary: boolean): Departure[] =>
      isSo ? [{ kind: "changed-metric", where: task, primary: isPrimary ? "yes" : "no", what }] : [];
    const isRemoved = removed.includes(primary ?? "");
    const otherPrimary = `primary metric: ${primary ?? "none"} → ${today.primary ?? "none"}`;
    return [
      ...changed(today.primary !== primary, otherPrimary, true),
      ...changed(removed.length > 0, `no longer measured: ${removed.join(", ")}`, isRemoved),
      ...changed(added.length > 0, `also measured: ${added.join(", ")}`, false),
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
    return [{ kind: "changed-analysis", where: "", primary: "may", what: `${name}: “${old}” → “${today}”` }];
  });
}

/** One departure for each stage and each set of changed parts, with the instances that it is true of. */
function stageDepartures(frozen: ProtocolFacts, now: ProtocolFacts): Departure[] {
  const before = new Map(
    frozen.definitions.flatMap(({ parts, instances }) => instances.map((instance) => [instance, parts])),
  );
  const planned = new Set(frozen.definitions.map(({ stage }) => stage));
  const changes = now.definitions.flatMap(({ stage, role, parts, instances }) =>
    instances.flatMap((instance) => {
      const old = before.get(instance);
      if (!old && planned.has(stage) && isOfAddition(instance, frozen)) return [];
      const added = planned.has(stage) ? "an instance added that was not planned" : "stage added";
      const primary = touches(instance, role, now);
      const texts = old ? partChanges(old, parts) : [added];
      return texts.map((text) => ({ what: `${stage}: ${text}`, primary, instance }));
    }),
  );
  const today = new Set(now.definitions.map(({ stage }) => stage));
  const removed = [...planned].filter((stage) => !today.has(stage));
  return [
    ...grouped(changes, ({ what, primary }) => [what, primary]).map((same): Departure => {
      const { what, primary } = same[0]!;
      return { kind: "changed-stage", primary, where: listed(same.map(({ instance }) => instance)), what };
    }),
    ...removed.map((stage): Departure => {
      const what = `${stage}: nothing was made by this stage`;
      return { kind: "changed-plan", where: stage, primary: "may", what };
    }),
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
