// A tool: a name, a description for the model, its arguments, and what it does in the sandbox. A tool answers in
// text; the model's own mistakes are answers too. It throws only for failures that are not the agent's.
import { followsFormat, formatProblems } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import type { Json } from "@mlrb/kit/stage";
import type { ToolSpec } from "../model/model-client.ts";
import type { Notes } from "./notes.ts";
import { endedByRestart } from "./notices.ts";
import type { RecordedResult, ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";

export type ToolResult = RecordedResult & {
  /** The call could not be understood. */
  senseless?: true;
  /** The result ends the loop. */
  ends?: ScaffoldEnd | { kind: "returned"; summary: string };
};

/** What the tools of one attempt share. */
export type ToolWorld = Pick<
  ScaffoldRequest,
  "sandbox" | "cwd" | "env" | "meter" | "scratch" | "signal" | "write" | "tape" | "replay" | "board"
> & {
  /** The conversation's name. */
  by: string;
  notes: Notes;
  /** Numbers the files in outputs/ over all conversations. */
  files: { count: number };
  /** Warnings that the agent gets once. */
  warned: { emptySubmission: boolean };
  patience: ToolTimeouts;
};

/** How long to wait for a program or a sandbox that does not answer. */
export type ToolTimeouts = {
  /** Between TERM and KILL. */
  killAfterMs: number;
  /** After KILL, until the sandbox must have reported the end. */
  guardMs: number;
};

export const patience: ToolTimeouts = { killAfterMs: 10_000, guardMs: 30_000 };

export type Tool = {
  spec: ToolSpec;
  /** Answers with how to call it if the arguments do not fit. */
  run(input: Record<string, Json>, world: ToolWorld): Promise<ToolResult>;
};

type Definition<Schema> = {
  name: string;
  description: string;
  /** The schema of its arguments. */
  input: Schema;
  run(input: TypeOf<Schema>, world: ToolWorld): Promise<ToolResult> | ToolResult;
  /**
   * For a conversation that continues after a restart. `runs`: the tool changes only the conversation, so it runs
   * again. `repeats`: a call that the restart ended is made again, which does no harm; otherwise the agent is
   * told.
   */
  restarted?: "runs" | "repeats";
  /** Gets the recorded result of a call from before the restart, and restores what else the call had changed. */
  kept?(result: ToolResult, world: ToolWorld): ToolResult;
};

export function tool<const Schema extends object>(definition: Definition<Schema>): Tool {
  const { name, description, input, restarted, kept = (result: ToolResult) => result } = definition;
  return {
    spec: { name, description, input: input as Record<string, Json> },
    async run(asked: unknown, world) {
      if (!followsFormat(input)(asked)) {
        const problems = formatProblems(input, asked).slice(0, problemsMax);
        return senseless([`${name} cannot be called like this:`, ...problems].join("\n- "));
      }
      const past = restarted === "runs" ? undefined : world.tape?.past(name);
      if (typeof past === "object") return kept(past, world);
      if (past === "ended" && restarted !== "repeats") return kept(failed(endedByRestart), world);
      try {
        return await definition.run(asked, world);
      } catch (error) {
        if (error instanceof Refusal) return refused(error.message);
        throw error;
      }
    },
  };
}

/** Of one call, told at once. */
const problemsMax = 5;

/** For tools whose program's output has a number, over all conversations. */
export function keptNumber(result: ToolResult, { files }: ToolWorld): ToolResult {
  if (result.outcome !== "refused") files.count++;
  return result;
}

/** Thrown where a tool cannot do what the model asked for; the message is the answer. */
export class Refusal extends Error {}

export function refused(text: string): ToolResult {
  return { outcome: "refused", text };
}

export function failed(text: string): ToolResult {
  return { outcome: "failed", text };
}

export function senseless(text: string): ToolResult {
  return { ...refused(text), senseless: true };
}
