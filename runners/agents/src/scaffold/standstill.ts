// Ends a conversation whose model brings nothing about: it declines, calls no tool, or makes calls that cannot be
// understood, again and again.
import type { ModelResponse, ToolCall } from "../model/model-client.ts";
import { callTools } from "./call-tools.ts";
import type { Entry } from "./context.ts";
import type { ScaffoldEnd } from "./scaffold.ts";
import type { Tool, ToolResult, ToolWorld } from "./tool.ts";

/** Consecutive answers without a call, and consecutive calls that could not be understood, after which a model has stopped. */
const silentMax = 3;
const senselessMax = 10;

export class Standstill {
  /** Consecutive answers without a tool call. */
  #silent = 0;
  #refusals = 0;
  #senseless = 0;
  /** Whether the model wrote any text since its last tool call. */
  #spoke = false;

  /** The end that a refusal brings; undefined if it is the first in a row. */
  refused({ text }: ModelResponse): ScaffoldEnd | undefined {
    return ++this.#refusals > 1 ? { kind: "refused", detail: text.slice(0, 2_000) } : undefined;
  }

  /** The end that an answer without a call brings. */
  silent(text: string): ScaffoldEnd | undefined {
    this.#refusals = 0;
    this.#spoke ||= text.trim() !== "";
    if (++this.#silent < silentMax) return undefined;
    return {
      kind: this.#spoke ? "stopped" : "silent",
      detail: `${this.#silent} answers in a row called no tool; the last: ${JSON.stringify(text.slice(0, 500))}`,
    };
  }

  /** Runs the calls of an answer. `end`: what they bring. */
  async call(
    calls: ToolCall[],
    at: { tools: Tool[]; world: ToolWorld },
  ): Promise<{ results: Entry[]; end: ToolResult["ends"] }> {
    this.#refusals = 0;
    this.#silent = 0;
    this.#spoke = false;
    const { results, ends, senseless } = await callTools(calls, { ...at, senseless: this.#senseless });
    this.#senseless = senseless;
    if (ends || senseless < senselessMax) return { results, end: ends };
    const detail = `${senseless} tool calls in a row could not be understood`;
    return { results, end: { kind: "stopped", detail } };
  }
}
