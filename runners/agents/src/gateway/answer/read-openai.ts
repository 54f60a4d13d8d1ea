// Reads answers in OpenAI's two protocols. Chat completions, which many other servers speak:
// platform.openai.com/docs/api-reference/chat. Responses: the last event of a stream holds the whole answer, so
// only a stream that was cut is read from its pieces: platform.openai.com/docs/api-reference/responses-streaming
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { endName, isServersEnd } from "../../model/answer-end.ts";
import { at, countAt, listAt, mayCount, nameAt, reportedCount, textAt } from "../../model/json-text.ts";
import { cachedTokens } from "../../model/reported-usage.ts";
import {
  type AnswerReader,
  addReasoning,
  addSurcharge,
  addUsage,
  emptyAnswer,
  finishOf,
  type HeardAnswer,
  type HeardCall,
  tierSurcharge,
  wholeUsage,
  withCountedOutput,
} from "./heard-answer.ts";

const finishes = {
  stop: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "refusal",
} as const;

const chatCounts = { input: "prompt_tokens", output: "completion_tokens" };

export function readOpenaiChat(): AnswerReader {
  const heard = emptyAnswer();
  const calls = new Map<number, HeardCall>();
  let refused = false;
  return {
    take(value) {
      heard.answeredBy = nameAt(value, "model") || heard.answeredBy;
      const fingerprint = nameAt(value, "system_fingerprint");
      if (fingerprint !== "") heard.fingerprint = fingerprint;
      if (at(value, "error")) heard.complaint = value;
      addUsage(heard, openaiUsage(at(value, "usage"), chatCounts));
      addSurcharge(heard, surchargeOf(value, chatCounts));
      const choices = listAt(value, "choices");
      const notes = choices.flatMap((one) =>
        ["message", "delta"].flatMap((name) => listAt(one, name, "annotations")),
      );
      // models that search by themselves name the pages that they read
      if (notes.some((one) => at(one, "type") === "url_citation")) addSurcharge(heard, "a search");
      const choice = choices.find((one) => (at(one, "index") ?? 0) === 0);
      const message = at(choice, "message") ?? at(choice, "delta");
      heard.text += textAt(message, "content") + textAt(message, "refusal");
      refused ||= textAt(message, "refusal") !== "";
      addReasoning(heard, textAt(message, "reasoning_content") || textAt(message, "reasoning"));
      for (const [place, one] of listAt(message, "tool_calls").entries()) {
        const index = countAt(one, "index") ?? place;
        const call = calls.get(index) ?? { id: "", name: "", input: "" };
        call.id ||= textAt(one, "id");
        call.name += textAt(one, "function", "name");
        call.input += textAt(one, "function", "arguments");
        calls.set(index, call);
      }
      const reason = textAt(choice, "finish_reason");
      if (!reason) return;
      heard.whole = !isServersEnd(endName(reason, nameAt(choice, "native_finish_reason")));
      heard.finish = finishOf(finishes, reason);
    },
    heard: () =>
      withCountedOutput({
        ...heard,
        finish: refused ? "refusal" : heard.finish,
        toolCalls: [...calls.values()],
      }),
  };
}

type CountNames = { input: string; output: string };

function surchargeOf(answer: Json, { input, output }: CountNames): string | null {
  const usage = at(answer, "usage");
  const sound = [input, output].some((name) => mayCount(usage, `${name}_details`, "audio_tokens"));
  return sound ? "sound" : tierSurcharge(nameAt(answer, "service_tier"));
}

/** The names of OpenAI's counts differ by protocol. Undefined without counts of input and output. */
function openaiUsage(usage: Json | undefined, { input, output }: CountNames): ModelUsage | undefined {
  const inputTokens = reportedCount(usage, input);
  const outputTokens = reportedCount(usage, output);
  if (inputTokens === null || outputTokens === null) return undefined;
  const written = reportedCount(usage, `${input}_details`, "cache_write_tokens") ?? 0;
  return wholeUsage({
    // tokens of a cache may have the highest price, so an unknown number of them makes the input unknown
    inputTokens: Number.isNaN(written) ? written : inputTokens,
    outputTokens,
    cachedInputTokens: cachedTokens(usage),
    ...(written !== 0 && { cacheWrittenTokens: written }),
    reasoningTokens: countAt(usage, `${output}_details`, "reasoning_tokens"),
    totalTokens: countAt(usage, "total_tokens") ?? 0,
  });
}

const responsesCounts = { input: "input_tokens", output: "output_tokens" };

export function readOpenaiResponses(): AnswerReader {
  let pieces = "";
  let last: HeardAnswer | undefined;
  let complaint: Json | null = null;
  let answeredBy: string | null = null;
  return {
    take(value) {
      if (at(value, "object") === "response") {
        last = wholeAnswer(value);
        return;
      }
      const type = textAt(value, "type");
      if (type === "response.output_text.delta") pieces += textAt(value, "delta");
      else if (type === "error") complaint = value;
      else if (type === "response.created") answeredBy = nameAt(value, "response", "model") || null;
      else if (["response.completed", "response.incomplete", "response.failed"].includes(type))
        last = wholeAnswer(at(value, "response") ?? null);
    },
    heard: () => {
      const heard = last ?? { ...emptyAnswer(), text: pieces, answeredBy };
      return { ...heard, complaint: heard.complaint ?? complaint };
    },
  };
}

function wholeAnswer(response: Json): HeardAnswer {
  const heard = emptyAnswer();
  const status = textAt(response, "status");
  heard.answeredBy = nameAt(response, "model") || null;
  heard.whole = status !== "failed";
  if (status === "failed") heard.complaint = { response };
  let refused = false;
  for (const item of listAt(response, "output")) {
    const type = textAt(item, "type");
    for (const part of listAt(item, "content")) {
      heard.text += textAt(part, "text") + textAt(part, "refusal");
      refused ||= at(part, "type") === "refusal";
    }
    for (const part of listAt(item, "summary"))
      heard.reasoning = (heard.reasoning ?? "") + textAt(part, "text");
    const input = textAt(item, "arguments") || textAt(item, "input");
    const action = at(item, "action"); // of local_shell_call
    if (/^(web_search|file_search|code_interpreter|image_generation)_call$/u.test(type))
      addSurcharge(heard, `a ${type}`);
    if (type.endsWith("_call"))
      heard.toolCalls.push({
        id: textAt(item, "call_id"),
        name: textAt(item, "name") || type.replace(/_call$/, ""),
        input: input || (action ? JSON.stringify(action) : ""),
      });
  }
  heard.usage = openaiUsage(at(response, "usage"), responsesCounts) ?? null;
  addSurcharge(heard, surchargeOf(response, responsesCounts));
  const calls = heard.toolCalls.length > 0;
  if (refused) heard.finish = "refusal";
  else if (status === "incomplete") heard.finish = "length";
  else heard.finish = calls ? "tool-calls" : "stop";
  return withCountedOutput(heard);
}
