// What a supervisor is asked for.
import type { Gpu } from "@mlrb/core/gpu";
import type { SnapshotLimits } from "@mlrb/core/sandbox";

export type AttemptRequest = {
  task: string;
  agent: string;
  seed: number | string;
  /** nop runs nothing and hands in nothing. */
  kind: "command" | "nop";
  command: string[];
  /** Host folder of the agent's program, if it has one. */
  program?: string;
  /** Host folder of what its program shares with others, if it does. */
  library?: string;
  /** Python of the agent's environment, if it has one. */
  python?: string;
  /** The prompt with its blanks. */
  prompt: string;
  publicData: string;
  /** Models that the task gives, a folder each; the agent finds them in models/ where there are any. */
  models?: string;
  /** Whether the two are copies that nobody else needs: then they are moved to the agent, not copied again. */
  ownCopies?: boolean;
  budgetMs: number;
  outputs: { submission: string; trajectory: string; ledger: string; snapshots: string };
  /** An empty host folder that the caller removes. */
  scratch: string;
  limits: SnapshotLimits;
  /** What it holds; charged from start to end. */
  gpus?: readonly Gpu[];
  /** Whether its programs come from an image, with a PATH of its own. */
  ownImage?: boolean;
  /** Takes secrets out of what the agent printed and wrote. */
  redact?(text: string): string;
  /** Least time between two snapshots. */
  pauseMs?: number;
  /** Between two looks at the workspace. */
  pollMs?: number;
};
