// What is kept of an attempt besides its files: record.json.
import type { KeyParts } from "@mlrb/core/action-key";
import type { Ran } from "@mlrb/core/ran";
import type { CostEstimate } from "./cost-estimate.ts";
import type { Artifact } from "./store.ts";

export type AttemptRecord = {
  formatVersion: 1;
  /** Where it was made for: one attempt's place in one pipeline and profile. */
  slot: { pipeline: string; profile: string; stage: string };
  axes: Record<string, string | number>;
  attemptKey: string;
  /** What the key was made of. */
  parts: KeyParts;
  /** What it was given, pinned: a stage that needs this attempt and one of these gets these. */
  given: { name: string; stage: string; output: string; kind: Artifact["kind"]; digest: string }[];
  outputs: Record<string, Artifact & { file: string }>;
  /** Digests of the harness that ran it: provenance, not key. */
  harness: Record<string, string>;
  /** What it cost, by its ledger; null is unknown, never 0. */
  cost: { gpuHours: number | null; dollars: number | null };
  /** What it was expected to cost, by what was known before it ran. */
  estimate?: CostEstimate;
  ran: Ran;
};
