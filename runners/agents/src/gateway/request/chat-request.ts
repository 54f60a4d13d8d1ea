// The fields of OpenAI's chat completions that leave the gateway, with those of other servers that speak the
// protocol: platform.openai.com/docs/api-reference/chat/create, docs.vllm.ai, docs.litellm.ai, openrouter.ai/docs
import {
  barred,
  barredEverywhere,
  closed,
  dataUrl,
  either,
  type Fields,
  fileName,
  flag,
  inlineData,
  list,
  number,
  type ObjectShape,
  object,
  opaque,
  opened,
  reaching,
  schema,
  storedFile,
  table,
  text,
  variants,
} from "./shape.ts";

/** Of OpenAI, and of Anthropic behind a proxy. */
const cached: Fields = {
  type: text,
  prompt_cache_breakpoint: object({ mode: text }),
  cache_control: object({ type: text }),
};
const textPart = object({ ...cached, text });
const part = variants("a part of a message", [
  ["text", textPart],
  ["refusal", object({ ...cached, refusal: text })],
  ["thinking", object({ ...cached, thinking: opaque, signature: text, closed: flag })],
  [
    "image_url",
    object({
      ...cached,
      image_url: either(dataUrl("`image_url`"), object({ url: dataUrl("`image_url`"), detail: text })),
    }),
  ],
  [
    "file",
    object({
      ...cached,
      file: object({ filename: fileName, file_data: inlineData("`file_data`"), file_id: storedFile }),
    }),
  ],
  ["input_audio", barred("price", { why: "sound has a price of its own", instead: "send text" })],
]);

const functionCall = object({ name: text, arguments: text });
const call = variants(
  "a call of a tool",
  [
    [
      "function",
      // Google's signatures of thoughts are in `extra_content`
      object({ id: text, index: number, type: text, function: functionCall, extra_content: opaque }),
    ],
    ["custom", object({ id: text, index: number, type: text, custom: object({ name: text, input: text }) })],
  ],
  "function",
);
const message = object({
  ...{ role: text, name: text, content: either(text, list(part)), refusal: text, prefix: flag },
  ...{ tool_call_id: text, tool_calls: list(call), function_call: functionCall },
  ...{ reasoning_content: text, reasoning: text, reasoning_details: opaque, thinking_blocks: opaque },
  cache_control: object({ type: text }),
  audio: barred("storage", { why: "it names sound that the provider stores", instead: "send text" }),
});

const functionFields: Fields = { name: text, description: text, parameters: schema, strict: flag };
const tool = variants("a tool", [
  [
    "function",
    object({ type: text, function: object(functionFields), cache_control: object({ type: text }) }),
  ],
  ["custom", object({ type: text, custom: object({ name: text, description: text, format: opaque }) })],
]);
const toolName = object({
  type: text,
  function: object({ name: text }),
  custom: object({ name: text }),
});

/** OpenAI's own. */
const openaiFields: Fields = {
  ...{ model: text, messages: list(message), stream: flag, n: number, seed: number },
  ...{ max_tokens: number, max_completion_tokens: number, stop: either(text, list(text)) },
  ...{ temperature: number, top_p: number, frequency_penalty: number, presence_penalty: number },
  ...{ logit_bias: table(number), logprobs: flag, top_logprobs: number },
  ...{ reasoning_effort: text, verbosity: text, parallel_tool_calls: flag, prompt_cache_key: text },
  prompt_cache_options: object({ mode: text }),
  stream_options: object({ include_usage: flag, include_obfuscation: flag }),
  tools: list(tool),
  tool_choice: either(
    text,
    object({
      ...{ type: text, function: object({ name: text }), custom: object({ name: text }) },
      allowed_tools: object({ mode: text, tools: list(toolName) }),
    }),
  ),
  functions: list(object(functionFields)),
  function_call: either(text, object({ name: text })),
  response_format: object({
    type: text,
    json_schema: object({ name: text, description: text, schema, strict: flag }),
    schema,
  }),
  prediction: object({ type: text, content: either(text, list(textPart)) }),
};

const ownTemplate = barred("reach", {
  why: "a template of the program's would run in the server",
  instead: "send the messages in the form that the template should give them",
});

/** Of other servers: how they sample, and how their models think. */
const otherFields: Fields = {
  ...{ top_k: number, top_a: number, min_p: number, typical_p: number, repetition_penalty: number },
  ...{ min_tokens: number, ignore_eos: flag, stop_token_ids: list(number), skip_special_tokens: flag },
  ...{ include_reasoning: flag, enable_thinking: flag, guided_json: schema },
  chat_template_kwargs: opened(object({ chat_template: ownTemplate, tokenize: ownTemplate })),
  thinking: object({ type: text, budget_tokens: number, clear_thinking: flag }),
  reasoning: object({ effort: text, max_tokens: number, exclude: flag, enabled: flag, summary: text }),
};

export const chatRequest: ObjectShape = object({
  ...barredEverywhere,
  ...openaiFields,
  ...otherFields,
  web_search_options: reaching(
    "`web_search_options`",
    closed(object({ search_context_size: text, user_location: opaque })),
  ),
  mcp_servers: reaching("`mcp_servers`", opaque),
});
