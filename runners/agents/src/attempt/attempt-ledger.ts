// Makes an attempt's ledger from the supervisor's facts. Pure.
import { unreachable } from "@mlrb/core/ports/outcome";
import type { SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { type InterventionSums, noInterventions } from "@mlrb/formats/declared/intervention";
import { treeDigest } from "../folders/copy-out.ts";
import type { ScaffoldEnd } from "../scaffold/scaffold.ts";
import type { Spending } from "./meter.ts";
import type { Ending } from "./watch-program.ts";

/** Something outside of the attempt ended it. */
export type Interruption = { kind: "interrupted"; why: string };

export type AttemptFacts = {
  budget: { timeMs: number; tokens?: number; dollars?: number };
  wallMs: number;
  workingMs: number;
  spending: Spending;
  /** The prices by which spending was counted. */
  prices?: UsedPrice[];
  /** undefined: nothing was run. */
  ending: Ending | Interruption | undefined;
  final: SnapshotResult;
  interventions?: InterventionSums;
  /** Restarts after the death of its supervisor or host. */
  resumed?: number;
  trajectory: Ledger["trajectory"];
  /** Whether its programs reached a network: they may have called models there. */
  network?: boolean | undefined;
  gpus: number;
  /** Time in which the GPUs computed, summed over all of them; null: not known. */
  gpuBusyMs: number | null;
  /** The most memory in use on one of the GPUs; null: not known. */
  gpuMemoryPeakMiB: number | null;
};

export function attemptLedger(seen: AttemptFacts): Ledger {
  const { wallMs, workingMs, spending, ending, final, trajectory, prices = [] } = seen;
  const { gpus, gpuBusyMs, gpuMemoryPeakMiB, interventions = noInterventions } = seen;
  const {
    budget: { timeMs, ...budget },
    network = false,
  } = seen;
  const { waitedMs, dollars, ...usage } = spending;
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
    // without a call and a network nothing can have cost anything
    dollars: known || (!called && !network) ? dollars : null,
    ...(prices.length > 0 && { prices }),
    usage: called ? usage : null,
    waitedMs: waitedMs as Record<string, number>,
    gpuHours: (gpus * wallMs) / 3_600_000,
    gpuBusyMs,
    // the peak before a restart is unknown
    ...(gpuMemoryPeakMiB !== null && seen.resumed === undefined && { gpuMemoryPeakMiB }),
    ended: endedAs(ending),
    exit: exitOf(ending),
    ...overOf(ending),
    ...(seen.resumed !== undefined && { resumed: seen.resumed }),
    ...(interventions.extensions > 0 && { interventions }),
    submission: submissionOf(final),
    trajectory,
  };
}

export function endedAs(ending: Ending | Interruption | undefined): Ledger["ended"] {
  if (ending?.kind === "interrupted") return "interrupted";
  if (ending?.kind === "time-limit") return "time-limit";
  if (ending?.kind === "over-budget") return `${overWord[ending.limit]}-limit`;
  if (ending?.kind === "scaffold") return scaffoldEnded(ending.end);
  if (ending === undefined || (ending.kind === "exited" && ending.code === 0)) return "finished";
  return "agent-error";
}

const overWord = { time: "time", tokens: "token", dollars: "dollar", turns: "turn" } as const;

function scaffoldEnded(end: ScaffoldEnd): Ledger["ended"] {
  switch (end.kind) {
    case "submitted":
    case "silent":
      return end.kind;
    case "stopped":
      return "gave-up";
    case "refused":
      return "refusal";
    case "agent-error":
      return "agent-error";
    case "over-budget":
      return `${overWord[end.limit]}-limit`;
    default:
      return unreachable(end);
  }
}

function exitOf(ending: AttemptFacts["ending"]): Ledger["exit"] {
  if (ending?.kind === "exited") return { code: ending.code };
  return ending?.kind === "signalled" ? { signal: ending.signal } : null;
}

function overOf(ending: AttemptFacts["ending"]): Pick<Ledger, "over"> {
  const end = ending?.kind === "scaffold" ? ending.end : ending;
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
