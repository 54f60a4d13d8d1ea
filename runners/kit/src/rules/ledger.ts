// What an attempt used of its budget. Written by the supervisor beside the trajectory, which it seals.
// It is read back as a stranger's file: rules must survive one that is not what it says.
import { closeSync, openSync, readSync } from "node:fs";

const endings = [
  /** A program ended by itself and well, or there was none. Older records hold it for submitted, gave-up and silent too. */
  "finished",
  /** A scaffold's model: handed in, stopped working without handing in, said nothing at all. */
  "submitted",
  "gave-up",
  "silent",
  "time-limit",
  "agent-error",
  "token-limit",
  "dollar-limit",
  "turn-limit",
  "refusal",
  /** By no doing of its agent, before its end: never on record. */
  "interrupted",
] as const;

export type ModelSpending = {
  calls: number;
  /** Tries that gave no answer. */
  failedTries: number;
  /** Calls and tries whose usage nobody told: what they took is not in the sums. */
  uncounted: number;
  inputTokens: number;
  outputTokens: number;
  /** Of inputTokens, and of outputTokens, as far as the provider tells. */
  cachedInputTokens: number;
  reasoningTokens: number;
  /** Absent in records of older harnesses, which estimated nothing. */
  estimated?: EstimatedSpending;
};

/** Upper estimates for calls whose usage nobody told, or told in part: limits count them, the sums beside do not hold them. */
export type EstimatedSpending = {
  /** Calls and tries, and of them those that were answered. */
  calls: number;
  answers: number;
  inputTokens: number;
  outputTokens: number;
  /** null: no price is known. */
  dollars: number | null;
};

/** Dollars for a million tokens, as in runners/agents/prices.yaml. */
export type UsedPrice = {
  provider: string;
  model: string;
  input: number;
  cached?: number;
  cacheWrite?: number;
  output: number;
  /** For a request with more input tokens than this. */
  above?: {
    inputTokens: number;
    input: number;
    cached?: number | undefined;
    cacheWrite?: number | undefined;
    output: number;
  };
  /** The day of the page. */
  asOf?: string;
  /** A page of the provider's, or `--price of run RUN`. */
  source: string;
};

export type Ledger = {
  formatVersion: 1;
  /** `wallMs` is of working time: where an agent waits for nobody the two are the same. */
  budget: { wallMs: number; tokens?: number; dollars?: number };
  /** From the start of the agent's program to its end, by a monotonic clock. */
  wallMs: number;
  /** Wall time without waits for which everything inside was frozen. */
  workingMs: number;
  /** In and out of all model calls; null: the harness saw none, or nobody told the usage of some (see `usage`). */
  tokens: number | null;
  /** null: no price or usage is known for some of them. */
  dollars: number | null;
  /** By which `dollars` and estimates were counted; absent where no call had one, and in ledgers of before they were kept. */
  prices?: UsedPrice[];
  /** Of model calls; absent or null where the harness saw none. */
  usage?: ModelSpending | null;
  /** All waits by reason, whether the deadline moved or not: it moved by wallMs - workingMs. */
  waitedMs?: Record<string, number>;
  gpuHours: number;
  /** Ms in which its GPUs computed, of all of them together; null: not known, as in ledgers of before it was measured. */
  gpuBusyMs?: number | null;
  /** agent-error: a non-zero exit or a signal, measured like any other end. */
  ended: (typeof endings)[number];
  /** How the agent's program ended, where it ended by itself. */
  exit: { code: number } | { signal: string } | null;
  /** A limit of its sandbox that it met, whatever it made of that. */
  over?: { limit: "memory" | "disk" | "processes"; detail: string };
  submission: {
    digest: string;
    files: number;
    bytes: number;
    /** What was not taken (links, devices, odd names …) and why; the list is bounded. */
    leftOut: { path: string; why: string }[];
    /** Why nothing was taken although something was there; null otherwise. */
    overLimits: string | null;
  };
  /** Lines of the trajectory and the digest of its last one: with them a cut end is seen. */
  trajectory: { lines: number; head: string };
};

const bytesMax = 1 << 20;

/** Reads a ledger; a text says what is wrong with it. */
export function readLedger(path: string): Ledger | string {
  let value: unknown;
  try {
    const buffer = Buffer.alloc(bytesMax);
    const file = openSync(path, "r");
    try {
      const length = readSync(file, buffer, 0, bytesMax, 0);
      if (length === bytesMax) return "the ledger is larger than 1 MiB";
      value = JSON.parse(buffer.toString("utf8", 0, length));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `the ledger cannot be read: ${error instanceof SyntaxError ? "not JSON" : (error as NodeJS.ErrnoException).code}`;
  }
  if (!isObject(value)) return "the ledger is not an object";
  if (typeof value.none === "string") return value.none.slice(0, 200); // nobody attempted this
  if (value.formatVersion !== 1) return "the ledger is of another format; this kit reads format 1";
  if (!isDuration(value.wallMs)) return "the ledger names no wall time";
  value.workingMs ??= value.wallMs; // where nothing was waited for the two are the same
  if (!isDuration(value.workingMs)) return "the ledger names no working time";
  value.gpuBusyMs ??= null;
  if (value.gpuBusyMs !== null && !isDuration(value.gpuBusyMs))
    return "the ledger's busy time of GPUs is no duration";
  if (!isObject(value.trajectory) || typeof value.trajectory.head !== "string")
    return "the ledger does not seal its trajectory";
  const { submission } = value;
  if (!isObject(submission) || !Array.isArray(submission.leftOut) || !submission.leftOut.every(isLeftOut))
    return "the ledger does not describe the submission";
  if (submission.overLimits !== null && typeof submission.overLimits !== "string")
    return "the ledger does not describe the submission";
  if (!endings.includes(value.ended as (typeof endings)[number]))
    return "the ledger does not say how the attempt ended";
  // harnesses before this one wrote 0 where no answer was counted
  const usage = isObject(value.usage) ? value.usage : {};
  if (value.tokens === 0 && typeof usage.uncounted === "number" && usage.uncounted > 0) value.tokens = null;
  return value as Ledger;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLeftOut(value: unknown): boolean {
  return isObject(value) && typeof value.path === "string" && typeof value.why === "string";
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
