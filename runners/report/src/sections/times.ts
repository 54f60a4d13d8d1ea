// Durations and costs of the attempts, from their ledgers. They are not part of the report: seconds differ between
// runs and machines, and reports are compared byte for byte.

import { uncheckedOf } from "@mlrb/formats/attempt/attempt-record";
import type { Ledger, LedgerMember, ServedModel } from "@mlrb/formats/attempt/ledger";
import { readFormat } from "@mlrb/formats/read-format";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { type Times, took } from "@mlrb/formats/times";
import { contentOf } from "../read/artifact-reader.ts";
import { marksOf, withFootnotes } from "../read/attempt-marks.ts";
import { byText } from "../read/order.ts";
import { plainText } from "../read/plain-text.ts";
import type { ReadText } from "../read/read-artifact.ts";
import { researchTimes, secondsOf } from "../read/research-times.ts";
import { changedModels, mergedServed, reachedWords, servedWords } from "../read/served-words.ts";
import { durationColumns, headOf, spentColumns } from "../units/attempt-amounts.ts";
import { amountColumn } from "../units/column-scale.ts";
import type { Item, Section } from "./table.ts";
import { column, numeric, tableSection } from "./table-of.ts";

type Sources = {
  label: string;
  /** A text where the ledger cannot be read. */
  readLedger: (path: string) => Ledger | string;
  read: ReadText;
  /** A scorer's, by name. */
  direction: (scorer: string) => unknown;
};

export function times(collected: Collected, { label, readLedger, read, direction }: Sources): Times {
  const placeOf = ({ axes: { task, agent, seed } }: Member) => JSON.stringify([task, agent, seed]);
  const research = new Map(
    collected.members.filter(({ role }) => role === "iterations").map((member) => [placeOf(member), member]),
  );
  const devSeconds = new Map<string, number>();
  for (const member of collected.members.filter(({ role }) => role?.startsWith("dev-"))) {
    const text = contentOf(member, "took", read);
    const found = text.kind === "ok" ? readFormat(took, text.value) : text;
    if (found.kind !== "ok") continue;
    const place = placeOf(member);
    devSeconds.set(place, (devSeconds.get(place) ?? 0) + found.value.seconds);
  }
  const attempts = collected.members
    .filter(({ role }) => role === "attempt")
    .map((member) => {
      const { axes, artifacts } = member;
      const path = artifacts.ledger?.path;
      const found = path === undefined ? "none" : readLedger(path);
      const ledger = typeof found === "string" ? undefined : found;
      return {
        task: plainText(String(axes.task)),
        agent: plainText(String(axes.agent)),
        seed: axes.seed ?? "",
        wallSeconds: known(ledger?.wallMs),
        workingSeconds: known(ledger?.workingMs),
        budgetSeconds: known(ledger?.budget.wallMs),
        ...(devSeconds.has(placeOf(member)) && { devSeconds: devSeconds.get(placeOf(member))! }),
        ended: ledger ? plainText(String(ledger.ended)) : null,
        tokens: ledger?.tokens ?? null,
        dollars: ledger?.dollars ?? null,
        gpuHours: ledger?.gpuHours ?? null,
        ...(ledger && { machineHours: machineHours(ledger) }),
        gpuBusyHours: hours(ledger?.gpuBusyMs),
        gpuMemoryPeakMiB: ledger?.gpuMemoryPeakMiB ?? null,
        ...(ledger?.resumed !== undefined && { resumed: ledger.resumed }),
        ...(ledger?.interventions && { interventions: ledger.interventions }),
        ...reachedIn(ledger),
        ...(ledger?.usage?.served && { served: ledger.usage.served.map(plainModel) }),
        ...(ledger?.members && { members: ledger.members.map(plainMember) }),
        ...(ledger?.talking && { talking: ledger.talking }),
        unusedShare: unusedShare(ledger),
        ...researchTimes(research.get(placeOf(member)), { read, direction, wallMs: ledger?.wallMs }),
        ...(member.origin && { origin: member.origin }),
        ...uncheckedOf(member),
      };
    });
  attempts.sort(
    (a, b) => byText(a.task, b.task) || byText(a.agent, b.agent) || byText(pad(a.seed), pad(b.seed)),
  );
  return { formatVersion: 1, label: plainText(label), attempts };
}

/** The table of durations and costs, for the terminal and Markdown. */
export function timesSection({ attempts, label }: Times): Section {
  // a column without any known, positive value is left out
  const spent = spentColumns.filter(({ of, isShown = (value) => value > 0 }) =>
    attempts.some((attempt) => {
      const value = of(attempt);
      return value !== null && isShown(value, attempt);
    }),
  );
  const amounts = [...durationColumns, ...spent].map(({ head, unit, quantity, digits, of }) => {
    const values = attempts.map(of).filter((value) => value !== null);
    const { text, headUnit } = amountColumn(values, quantity, digits);
    return numeric(headOf(head, headUnit || unit), (row: Timed) => {
      const value = of(row);
      return value === null ? "unknown" : text(value);
    });
  });
  const groups = [...Map.groupBy(attempts, ({ task }) => task)].map(([task, rows]) => ({
    ...{ name: task, title: task, rows },
  }));
  const about = {
    heading: `Time and cost of each attempt (${label})`,
    caption: withFootnotes(
      "Time on the machine that ran the attempt, and what it spent, from its ledger. No score depends on them." +
        spent.map(({ means }) => (means === undefined ? "" : ` ${means}`)).join(""),
      attempts,
    ),
  };
  const columns = [
    column("agent", ({ agent }: Timed) => agent),
    numeric("seed", (row: Timed) => {
      const own = `${row.reached === undefined ? "" : reachedMark}${changeIn(row) === "" ? "" : changedMark}`;
      return `${row.seed}${own}${marksOf(row)}`;
    }),
    ...amounts,
    column("ended", ({ ended }: Timed) => ended ?? "unknown"),
  ];
  const reached = attempts.flatMap(({ task, agent, seed, reached: how }) =>
    how === undefined ? [] : [{ head: `${task}, ${agent} ${seed}`, text: `${reachedMark} ${how}` }],
  );
  return tableSection(about, groups, columns, [...reached, ...changedItems(attempts)]);
}

type Timed = Times["attempts"][number];

/** Follows the seed of an attempt whose provider reached a network for it. */
const reachedMark = "¶";

function reachedIn(ledger: Ledger | undefined): { reached?: string } {
  const found = ledger?.usage?.reached;
  if (!found) return {};
  return { reached: plainText(reachedWords(found)) };
}

/** Follows the seed of an attempt whose calls were answered by more than one model or configuration. */
const changedMark = "‖";

/** Empty without a change. */
function changeIn({ served = [] }: Pick<Timed, "served">): string {
  return servedWords(changedModels(served));
}

/** Changes of model within one attempt, and between the attempts of one agent. They change no number. */
function changedItems(attempts: Timed[]): Item[] {
  const within = attempts.flatMap((attempt) => {
    const words = changeIn(attempt);
    const { task, agent, seed } = attempt;
    const text = `${changedMark} the model or its configuration changed during the attempt: ${words}`;
    return words === "" ? [] : [{ head: `${task}, ${agent} ${seed}`, text }];
  });
  const between = [...Map.groupBy(attempts, ({ agent }) => agent)].flatMap(([agent, own]) => {
    const words = servedWords(changedModels(mergedServed(own.flatMap(({ served = [] }) => served))));
    const text = `the model or its configuration differs between calls of this agent: ${words}`;
    return words === "" ? [] : [{ head: agent, text }];
  });
  return [...within, ...between];
}

function plainMember({ name, agent, end, ...sums }: LedgerMember): LedgerMember {
  return { name: plainText(name), agent: plainText(agent), ...sums, end: plainText(end) };
}

function plainModel({ provider, model, answeredBy, fingerprint, calls }: ServedModel): ServedModel {
  return {
    ...{ provider: plainText(provider), model: plainText(model) },
    answeredBy: answeredBy === null ? null : plainText(answeredBy),
    ...(fingerprint !== undefined && { fingerprint: plainText(fingerprint) }),
    calls,
  };
}

/** Of the budget of working time; null without a ledger or a budget. */
function unusedShare(ledger: Ledger | undefined): number | null {
  if (!ledger || !(ledger.budget.wallMs > 0)) return null;
  return Math.max(0, 1 - ledger.workingMs / ledger.budget.wallMs);
}

function machineHours({ workingMs, wallMs, gpuHours, budget: { machines = 1 } }: Ledger): number {
  const held = gpuHours > 0 ? gpuHours / (wallMs / 3_600_000) : machines;
  return (workingMs / 3_600_000) * held;
}

function known(ms: number | undefined): number | null {
  return ms === undefined ? null : secondsOf(ms);
}

function hours(ms: number | null | undefined): number | null {
  return ms === undefined || ms === null ? null : ms / 3_600_000;
}

function pad(seed: string | number): string {
  return String(seed).padStart(20);
}
