// What a scaffold is given and how it can end. A scaffold is the loop between a model and its tools; it decides
// nothing about budgets, retries or records: those are handed in.

import type { OverLimit, Sandbox } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import type { Message, ModelResponse, ToolSpec } from "../model/model-client.ts";

export type ScaffoldRequest = {
  spec: ScaffoldSpec;
  model: ModelSpec;
  /** The task's prompt, rendered. */
  prompt: string;
  sandbox: Sandbox;
  /** Working directory and variables of its tools' programs. */
  cwd: string;
  env: Record<string, string>;
  /** Whether programs inside reach a network. */
  network: boolean;
  /** Host folder for what is written on the way; the system's own for such where none is given. */
  scratch?: string;
  meter: Meter;
  /** Asks the model until it answers or will not; charges, waits, retries and records on the way. */
  ask(by: string, messages: Message[], tools: ToolSpec[]): Promise<AskResult>;
  write(event: TrajectoryEvent): void;
  /** Aborted when the attempt is over. */
  signal: AbortSignal;
  /**
   * What is to be said before the next answer, called once before each (not again where a request was too long); a
   * replay gives what was said then. By default the meter is looked at.
   */
  noticesDue?(): string[];
};

export type AskResult =
  | { kind: "answered"; response: ModelResponse }
  /** The request was too long for the model: cut it and ask again. */
  | { kind: "too-long" }
  /** The budget is used up. */
  | { kind: "over" };

/** How a scaffold ended by itself; everything else (time, trouble) ends it from outside. */
export type ScaffoldEnd =
  | { kind: "submitted" }
  /** It stopped calling tools although it was asked to go on. */
  | { kind: "stopped"; detail: string }
  /** The same, and it said nothing either. */
  | { kind: "silent"; detail: string }
  | { kind: "refused"; detail: string }
  /** Its programs left the sandbox so that nothing can be run in it any more. */
  | { kind: "agent-error"; detail: string; over?: OverLimit }
  | { kind: "over-budget"; limit: OverBudget["limit"] | "turns"; detail: string };

/** Throws SandboxTrouble where the sandbox is lost, and the signal's reason once that is aborted. */
export type Scaffold = (request: ScaffoldRequest) => Promise<ScaffoldEnd>;
