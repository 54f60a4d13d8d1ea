// A tool: a name, a description for the model, its arguments, and what it does in the sandbox. A tool answers in text;
// the model's own mistakes are answers too. It throws only for failures that are not the agent's.
import type { Json } from "@mlrb/kit/stage";
import { z } from "zod";
import type { ToolSpec } from "../model/model-client.ts";
import type { Notes } from "./notes.ts";
import type { ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";

export type ToolResult = {
  outcome: "done" | "failed" | "refused" | "timed-out";
  /** The model reads this: without durations, pids or paths of the host, so that a replay has the same bytes. */
  text: string;
  exit?: { code: number } | { signal: string };
  /** The file in the workspace that holds the whole of a clipped text. */
  rest?: string;
  /** Whether a program of the agent ran. */
  executed?: boolean;
  /** The call could not be understood. */
  senseless?: true;
  /** The result ends the loop. */
  ends?: ScaffoldEnd | { kind: "returned"; summary: string };
};

/** What the tools of one attempt share. */
export type ToolWorld = Pick<
  ScaffoldRequest,
  "sandbox" | "cwd" | "env" | "network" | "meter" | "signal" | "write"
> & {
  /** The conversation's name. */
  by: string;
  notes: Notes;
  /** Numbers the files in outputs/ over all conversations. */
  files: { count: number };
  /** Host folder for temporary files. */
  scratch: string;
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

type Definition<Shape extends z.ZodRawShape> = {
  name: string;
  description: string;
  input: Shape;
  run(input: z.output<z.ZodObject<Shape>>, world: ToolWorld): Promise<ToolResult> | ToolResult;
  /** Whether it accepts unknown keys. */
  loose?: boolean;
};

export function tool<Shape extends z.ZodRawShape>(definition: Definition<Shape>): Tool {
  const { name, description, loose = false } = definition;
  const shape = loose ? z.looseObject(definition.input) : z.strictObject(definition.input);
  const { $schema: _, ...input } = z.toJSONSchema(shape);
  return {
    spec: { name, description, input: input as Record<string, Json> },
    async run(asked, world) {
      const checked = shape.safeParse(asked);
      if (!checked.success)
        return senseless(`${name} cannot be called like this:\n${problems(checked.error)}`);
      return definition.run(checked.data as z.output<z.ZodObject<Shape>>, world);
    },
  };
}

export function refused(text: string): ToolResult {
  return { outcome: "refused", text };
}

export function failed(text: string): ToolResult {
  return { outcome: "failed", text };
}

export function senseless(text: string): ToolResult {
  return { ...refused(text), senseless: true };
}

function problems(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map(({ path, message }) => `- ${path.length > 0 ? `${path.join(".")}: ` : ""}${message.slice(0, 300)}`)
    .join("\n");
}
