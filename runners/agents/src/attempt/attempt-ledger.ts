// Makes an attempt's ledger from the supervisor's facts. Pure.
import type { SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { noInterventions } from "@mlrb/formats/declared/intervention";
import { treeDigest } from "../folders/copy-out.ts";
import type { BudgetLimits, Spending } from "./meter.ts";
import type { Ending } from "./watch-program.ts";

/** Something outside of the attempt ended it. */
export type Interruption = { kind: "interrupted"; why: string };

export type AttemptFacts = Pick<
  Ledger,
  "wallMs" | "workingMs" | "prices" | "gpuBusyMs" | "resumed" | "interventions" | "trajectory"
> & {
  budget: BudgetLimits;
  spending: Spending;
  /** undefined: nothing was run. */
  ending: Ending | Interruption | undefined;
  final: SnapshotResult;
  /** Whether its programs reached a network: they may have called models there. */
  network?: boolean | undefined;
  gpus: number;
  replay?: Ledger["replay"];
  person?: Ledger["person"];
  /** Of a team. */
  team?: Pick<Ledger, "members" | "talking"> | undefined;
  /** null: not known. */
  gpuMemoryPeakMiB: number | null;
};

export function attemptLedger(seen: AttemptFacts): Ledger {
  const { wallMs, workingMs, ending, final, trajectory, prices = [], network = false } = seen;
  const { gpus, gpuBusyMs, gpuMemoryPeakMiB, resumed, interventions = noInterventions, replay } = seen;
  const { timeMs, ...budget } = seen.budget;
  const { machineDollarsPerHour: rate } = budget;
  const { waitedMs, dollars, ...usage } = seen.spending;
  const called = usage.calls + usage.failedTries > 0;
  // spending that no provider reported is unknown, never 0; some of the failed tries may have cost something
  const { answers, calls } = usage.estimated;
  const known = called && answers === 0 && (usage.calls > 0 || calls === 0);
  return {
    formatVersion: 1,
    budget: { wallMs: timeMs, ...budget },
    wallMs,
    workingMs,
    tokens: known ? usage.inputTokens + usage.outputTokens : null,
    // without a call and a network nothing can have cost anything; nobody counts what people cost
    dollars: known || (!called && !network && !seen.person) ? dollars : null,
    ...(rate !== undefined && { machineDollars: (rate * workingMs) / 3_600_000 }),
    ...(prices.length > 0 && { prices }),
    usage: called ? usage : null,
    waitedMs: waitedMs as Record<string, number>,
    gpuHours: (gpus * wallMs) / 3_600_000,
    gpuBusyMs,
    // the peak before a restart is unknown
    ...(gpuMemoryPeakMiB !== null && resumed === undefined && { gpuMemoryPeakMiB }),
    ended: endedAs(ending),
    exit: exitOf(ending),
    ...overOf(ending),
    ...(resumed !== undefined && { resumed }),
    ...(interventions.extensions > 0 && { interventions }),
    ...seen.team,
    ...(seen.person && { person: seen.person }),
    ...(replay && { replay }),
    submission: submissionOf(final),
    trajectory,
  };
}

export function endedAs(ending: AttemptFacts["ending"]): Ledger["ended"] {
  const end = endOf(ending);
  if (end === undefined || (end.kind === "exited" && end.code === 0)) return "finished";
  return end.kind === "over-budget" ? `${overWord[end.limit]}-limit` : endWord[end.kind];
}

const overWord = { time: "time", tokens: "token", dollars: "dollar", turns: "turn" } as const;
const endWord = {
  ...({ interrupted: "interrupted", "time-limit": "time-limit" } as const),
  ...({ submitted: "submitted", silent: "silent", stopped: "gave-up", refused: "refusal" } as const),
  ...({ "agent-error": "agent-error", exited: "agent-error", signalled: "agent-error" } as const),
  ...({ lost: "agent-error", "not-started": "agent-error" } as const),
};

/** How the agent ended, whether it was a program or a scaffold. */
function endOf(ending: AttemptFacts["ending"]) {
  return ending?.kind === "scaffold" ? ending.end : ending;
}

function exitOf(ending: AttemptFacts["ending"]): Ledger["exit"] {
  if (ending?.kind === "exited") return { code: ending.code };
  return ending?.kind === "signalled" ? { signal: ending.signal } : null;
}

function overOf(ending: AttemptFacts["ending"]): Pick<Ledger, "over"> {
  const end = endOf(ending);
  return end && "over" in end && end.over ? { over: end.over } : {};
}

function submissionOf(final: SnapshotResult): Ledger["submission"] {
  if (final.kind === "taken") {
    const { digest, files, bytes, leftOut } = final.tree;
    return { digest, files: files.length, bytes, leftOut, overLimits: null };
  }
  const overLimits = final.kind === "over-limits" ? final.detail : null;
  return { digest: treeDigest([]), files: 0, bytes: 0, leftOut: [], overLimits };
}
