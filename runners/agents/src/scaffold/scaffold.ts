// The input of a scaffold and its possible ends. A scaffold is the loop between a model and its tools; its callers
// decide about budgets, retries and records.

import type { OverLimit, Sandbox } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import type { Message, ModelResponse, ToolCall, ToolSpec } from "../model/model-client.ts";

export type ScaffoldRequest = {
  spec: ScaffoldSpec;
  model: ModelSpec;
  /** The task's prompt, rendered. */
  prompt: string;
  sandbox: Sandbox;
  /** Working directory and variables of the tools' programs. */
  cwd: string;
  env: Record<string, string>;
  /** Whether programs inside reach a network. */
  network: boolean;
  /** Host folder for temporary files. */
  scratch: string;
  meter: Meter;
  /** Asks the model until it answers or refuses: charges, waits, retries and records. */
  ask(by: string, messages: Message[], tools: ToolSpec[]): Promise<AskResult>;
  /** The same for the model that plans; absent if the preset names none. */
  askPlanner?: ScaffoldRequest["ask"];
  write(event: TrajectoryEvent): void;
  /** Aborted when the attempt is over. */
  signal: AbortSignal;
  /**
   * The notices before the next answer. Called once before each answer, not again after a request that was too
   * long. A replay returns those of its recording.
   */
  noticesDue(): string[];
  /** What the conversation came to before its supervisor or host died. */
  tape?: { past(tool: string): PastCall | undefined } | undefined;
  /** Of a replay: the tool results of its recording. */
  replay?: ToolReplay | undefined;
  /** Of a member of a team. */
  board?: BoardAccess | undefined;
};

/** A message of one member of a team to another one, or to all others. */
export type BoardMessage = { from: string; to: string; purpose: "message" | "hand-over"; text: string };

/** The message board of a team, as the conversations of one member use it. */
export type BoardAccess = {
  /** This member. */
  member: string;
  /** How many of the messages to this member it has read. */
  read: number;
  /** A text says why the message was refused. */
  send(message: Omit<BoardMessage, "from">): string | undefined;
  /** All messages to this member, in the order in which they were sent. */
  received(): readonly BoardMessage[];
  /** Resolves with the next message to this member, or after `ms`. */
  next(ms: number, signal: AbortSignal): Promise<void>;
};

/** What the trajectory keeps of a tool's result. */
export type RecordedResult = {
  outcome: "done" | "failed" | "refused" | "timed-out";
  /** The model reads this: without durations, pids or paths of the host, so that a replay has the same bytes. */
  text: string;
  exit?: { code: number } | { signal: string };
  /** The file in the workspace that holds the whole of a clipped text. */
  rest?: string;
  /** Whether a program of the agent ran. */
  executed?: boolean;
};

/** Makes the tool calls of a replay, by `run` where they run again. */
export type ToolReplay = {
  /** Ms, by the clock of the replay. */
  now(): number;
  call<Result extends RecordedResult>(
    call: ToolCall,
    run: (call: ToolCall) => Promise<Result>,
  ): Promise<Result>;
};

/** What became of a tool call: its result from before the restart; or `ended`, the restart ended it. */
export type PastCall = RecordedResult | "ended";

export type AskResult =
  | { kind: "answered"; response: ModelResponse }
  /** The request was too long for the model: cut it and ask again. */
  | { kind: "too-long" }
  /** The budget is used up. */
  | { kind: "over" };

/** How a scaffold ended by itself; time limits and trouble end it from outside. */
export type ScaffoldEnd =
  | { kind: "submitted" }
  /** It stopped calling tools although it was asked to continue. */
  | { kind: "stopped"; detail: string }
  /** The same, and without any text. */
  | { kind: "silent"; detail: string }
  | { kind: "refused"; detail: string }
  /** Its programs left the sandbox unusable. */
  | { kind: "agent-error"; detail: string; over?: OverLimit }
  | { kind: "over-budget"; limit: OverBudget["limit"] | "turns"; detail: string };

/** Throws SandboxTrouble if the sandbox is lost, and the signal's reason once that is aborted. */
export type Scaffold = (request: ScaffoldRequest) => Promise<ScaffoldEnd>;
