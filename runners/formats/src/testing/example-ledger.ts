// A whole ledger for tests that care about some of its fields.
import type { Ledger } from "../attempt/ledger.ts";

export function exampleLedger(more: Partial<Ledger> = {}): Ledger {
  return {
    formatVersion: 1,
    budget: { wallMs: 600_000 },
    wallMs: 61_000,
    workingMs: 58_000,
    tokens: 1234,
    dollars: 0.25,
    usage: null,
    gpuHours: 0.5,
    gpuBusyMs: null,
    ended: "finished",
    exit: null,
    submission: { digest: "ef".repeat(32), files: 1, bytes: 10, leftOut: [], overLimits: null },
    trajectory: { lines: 20, head: "0".repeat(64) },
    ...more,
  };
}
