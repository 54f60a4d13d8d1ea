// What a tool is: a name, what the model is told of it, the arguments it takes, and what it does in the sandbox.
// A tool answers in text; trouble that is the model's own is an answer too. Only what is nobody's doing throws.
import type { Json } from "@mlrb/kit/stage";
import { z } from "zod";
import type { ToolSpec } from "../model/model-client.ts";
import type { Notes } from "./notes.ts";
import type { ScaffoldEnd, ScaffoldRequest } from "./scaffold.ts";

export type ToolResult = {
  outcome: "done" | "failed" | "refused" | "timed-out";
  /** What the model is told: no durations, pids or paths of the host, so that a replay is the same to the byte. */
  text: string;
  exit?: { code: number } | { signal: string };
  /** Where in the workspace the whole of it lies, where it was clipped. */
  rest?: string;
  /** Whether a program of the agent's ran. */
  executed?: boolean;
  /** The call itself could not be understood. */
  senseless?: true;
  /** The loop ends with it. */
  ends?: ScaffoldEnd | { kind: "returned"; summary: string };
};

/** What the tools of one attempt share. */
export type ToolWorld = Pick<
  ScaffoldRequest,
  "sandbox" | "cwd" | "env" | "network" | "meter" | "signal" | "write"
> & {
  /** Whose conversation it is. */
  by: string;
  notes: Notes;
  /** Counts what is left in outputs/, over all conversations. */
  files: { count: number };
  /** Host folder for what is written on the way. */
  scratch: string;
  /** What the agent was told once and is not told again. */
  told: { emptySubmission: boolean };
  patience: ToolTimeouts;
};

/** How long what does not answer is waited for. */
export type ToolTimeouts = {
  /** Between asking a program to end and ending it. */
  killAfterMs: number;
  /** After that, for the sandbox to say that it ended. */
  guardMs: number;
};

export const patience: ToolTimeouts = { killAfterMs: 10_000, guardMs: 30_000 };

export type Tool = {
  spec: ToolSpec;
  /** Says how to call it where the arguments make no sense. */
  run(input: Record<string, Json>, world: ToolWorld): Promise<ToolResult>;
};

type Definition<Shape extends z.ZodRawShape> = {
  name: string;
  description: string;
  input: Shape;
  run(input: z.output<z.ZodObject<Shape>>, world: ToolWorld): Promise<ToolResult> | ToolResult;
  /** Whether it takes keys that it does not know. */
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
