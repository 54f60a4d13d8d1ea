// Runs the tool calls of one answer in order, and records each. A call that cannot be understood is answered with
// how to make it. What a tool throws is rethrown.
import type { ToolCall } from "../model/model-client.ts";
import { type Entry, entry } from "./context.ts";
import { refused, senseless, type Tool, type ToolResult, type ToolWorld } from "./tool.ts";

export type Called = {
  /** One for each answered call, in order. */
  results: Entry[];
  ends?: NonNullable<ToolResult["ends"]>;
  /** Consecutive calls up to the last one that could not be understood. */
  senseless: number;
};

/** Calls of one answer; more are refused. */
const callsMax = 32;

export async function callTools(
  calls: ToolCall[],
  { tools, world, senseless: before }: { tools: Tool[]; world: ToolWorld; senseless: number },
): Promise<Called> {
  const called: Called = { results: [], senseless: before };
  const tooMany = refused(`not done: an answer may have ${callsMax} calls, this one has ${calls.length}`);
  for (const [index, call] of calls.entries()) {
    const { by, write, replay } = world;
    const now = () => replay?.now() ?? performance.now();
    const started = now();
    const { id, name } = call;
    const input = "malformed" in call ? call.malformed : JSON.stringify(call.input);
    write({ event: "tool-call", by, id, name, input });
    const run = (one: ToolCall) => callOne(one, tools, world);
    const made = () => (replay ? replay.call(call, run) : run(call));
    const result = index < callsMax ? await made() : tooMany;
    write({
      event: "tool-result",
      by,
      id,
      name,
      outcome: result.outcome,
      exit: result.exit ?? null,
      text: result.text,
      rest: result.rest ?? null,
      durationMs: Math.round(now() - started),
      executed: result.executed ?? false,
    });
    const { text, outcome, rest } = result;
    const message = { role: "tool" as const, callId: id, name, text, failed: outcome !== "done" };
    called.results.push(entry(message, rest === undefined ? {} : { rest }));
    called.senseless = result.senseless ? called.senseless + 1 : 0;
    if (result.ends) return { ...called, ends: result.ends };
  }
  return called;
}

async function callOne(call: ToolCall, tools: Tool[], world: ToolWorld): Promise<ToolResult> {
  const tool = tools.find(({ spec }) => spec.name === call.name);
  const names = tools.map(({ spec }) => spec.name).join(", ");
  const named = JSON.stringify(call.name.slice(0, 100));
  if (!tool) return senseless(`there is no tool ${named}; there are ${names}`);
  if ("malformed" in call)
    return senseless(
      `the arguments of ${call.name} are no JSON object; call it with ${JSON.stringify(tool.spec.input.required ?? [])} as ${JSON.stringify(tool.spec.input.properties ?? {})}`,
    );
  return tool.run(call.input, world);
}
