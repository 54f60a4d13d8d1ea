// What a supervisor is asked for.

import type { Gpu } from "@mlrb/core/ports/gpu";
import type { SnapshotLimits } from "@mlrb/core/ports/sandbox";
import type { AgentPreset, ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { GatewayRequest } from "../gateway/program-gateway.ts";
import type { PriceBook } from "../model/prices.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import type { AttemptPurse } from "./attempt-purse.ts";

export type LlmAgent = {
  model: ModelSpec;
  scaffold: ScaffoldSpec;
  /** Of the model's provider. A person may replace it while the attempt waits. */
  key?: string;
};

export type AttemptRequest = {
  task: string;
  agent: string;
  seed: number | string;
  /** nop runs nothing and hands in nothing. */
  kind: AgentPreset["kind"];
  command: string[];
  /** llm: what it is made of. */
  llm?: LlmAgent;
  /** command: the models that its program reaches. */
  gateway?: GatewayRequest;
  /** replay: a host folder with trajectory.jsonl and attachments/. */
  recording?: string;
  /** Whether programs inside reach a network. */
  network?: boolean;
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
  /** `timeMs` of working time; tokens and dollars of model calls. */
  budget: { timeMs: number; tokens?: number; dollars?: number };
  /** What model calls cost; the table's prices where none are given. */
  prices?: PriceBook;
  /** What the command line of the run that carries it said of money. */
  purse?: Pick<AttemptPurse, "cap" | "onCarried">;
  outputs: {
    submission: string;
    trajectory: string;
    ledger: string;
    snapshots: string;
    /** For texts that are too long for a line of the trajectory; without it they stand there whole. */
    attachments?: string;
  };
  /** Where what is spent is kept while the attempt goes on. */
  spending?: string;
  /** An empty host folder that the caller removes. */
  scratch: string;
  limits: SnapshotLimits;
  /** What it holds; charged from start to end. */
  gpus?: readonly Gpu[];
  /** Whether its programs come from an image, with a PATH of its own. */
  ownImage?: boolean;
  /** Aborted with an `Interrupted` when the harness is told to end. */
  interrupted?: AbortSignal;
  /** What to do while a provider or a person is waited for; without it such trouble ends the attempt soon. */
  waits?: AttemptWaiting;
  /** Takes secrets out of what the agent printed and wrote. */
  redact?(text: string): string;
  /** Least time between two snapshots. */
  pauseMs?: number;
  /** At the deadline, how long a call that has not begun to answer is waited for; see provider-silence. */
  holdMs?: number;
  /** Between two looks at the workspace. */
  pollMs?: number;
};
