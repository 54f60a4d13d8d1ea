// The fields of Anthropic's messages protocol that leave the gateway:
// platform.claude.com/docs/en/api/messages/create. Left out on purpose: `cache_control` that keeps for an hour,
// and compaction by the provider, whose tokens its count of usage leaves out.
import {
  address,
  barred,
  barredEverywhere,
  base64,
  closed,
  either,
  type Fields,
  flag,
  list,
  mediaType,
  number,
  type ObjectShape,
  object,
  opaque,
  ranAtProvider,
  reaching,
  type Shape,
  schema,
  storedFile,
  text,
  variants,
  word,
} from "./shape.ts";

const cacheControl = object({
  type: text,
  scope: text,
  ttl: word(["5m"], {
    changes: "price",
    why: "a cache that is kept for longer has a price of its own",
    instead: "leave `ttl` out",
  }),
});
const cached: Fields = { type: text, cache_control: cacheControl };

const citation = object({
  ...{ type: text, cited_text: text, title: text, source: text, url: text, encrypted_index: text },
  ...{ document_index: number, document_title: text, search_result_index: number },
  ...{ start_char_index: number, end_char_index: number, start_page_number: number, end_page_number: number },
  ...{ start_block_index: number, end_block_index: number },
});
const textBlock = object({ ...cached, text, citations: list(citation) });
const inline = object({ type: text, media_type: mediaType, data: base64 });
const inlineText = object({ type: text, media_type: mediaType, data: text });
const byAddress = object({ type: text, url: address("content by its address") });
const image = object({
  ...cached,
  source: variants("the source of a picture", [
    ["base64", inline],
    ["url", byAddress],
    ["file", storedFile],
  ]),
});
const document = object({
  ...cached,
  ...{ title: text, context: text, citations: object({ enabled: flag }) },
  source: variants("the source of a document", [
    ["base64", inline],
    ["text", inlineText],
    [
      "content",
      object({
        type: text,
        content: either(
          text,
          list(
            variants("a block of a document", [
              ["text", textBlock],
              ["image", image],
            ]),
          ),
        ),
      }),
    ],
    ["url", byAddress],
    ["file", storedFile],
  ]),
});
const searchResult = object({
  ...cached,
  ...{ source: text, title: text, content: list(textBlock), citations: object({ enabled: flag }) },
});
const toolReference = object({ ...cached, tool_name: text });
const toolResult = object({
  ...cached,
  ...{ tool_use_id: text, is_error: flag, toolset_name: text },
  content: either(
    text,
    list(
      variants("a block of a tool's result", [
        ["text", textBlock],
        ["image", image],
        ["document", document],
        ["search_result", searchResult],
        ["tool_reference", toolReference],
      ]),
    ),
  ),
});
const caller = object({ type: text });
const serverCall = object({ ...cached, id: text, name: text, input: opaque, caller });
const serverResult = object({ ...cached, tool_use_id: text, content: opaque, caller });

const block = variants("a content block", [
  ["text", textBlock],
  ["image", image],
  ["document", document],
  ["search_result", searchResult],
  ["thinking", object({ type: text, thinking: text, signature: text })],
  ["redacted_thinking", object({ type: text, data: text })],
  ["tool_use", object({ ...cached, id: text, name: text, input: opaque, caller, toolset_name: text })],
  ["tool_result", toolResult],
  ["server_tool_use", reaching("a call of a tool of the provider's", serverCall)],
  [/^web_(search|fetch)_tool_result$/, reaching("a result of a tool of the provider's", serverResult)],
  [/^mcp_tool_(use|result)$|^mcp_tool_listing$/, reaching("a remote tool", opaque)],
  [/^container_upload$|code_execution_tool_result$/, ranAtProvider],
]);

const message = object({ role: text, content: either(text, list(block)) });

const toolFields: Fields = {
  ...cached,
  name: text,
  strict: flag,
  defer_loading: flag,
  input_examples: list(opaque),
};
const ownTool = object({
  ...toolFields,
  ...{ description: text, input_schema: schema, eager_input_streaming: flag },
});
const knownTool = object({
  ...toolFields,
  ...{ max_characters: number, enable_zoom: flag },
  ...{ display_height_px: number, display_width_px: number, display_number: number },
});
const searchTool = closed(
  object({
    ...toolFields,
    allowed_domains: list(text),
    blocked_domains: list(text),
    max_uses: number,
    max_content_tokens: number,
    ...{ citations: object({ enabled: flag }), user_location: opaque },
    ...{ allowed_callers: list(text), response_inclusion: text, use_cache: flag },
  }),
);
const tool = variants(
  "a tool",
  [
    ["custom", ownTool],
    [/^(bash|text_editor|computer|memory)_\d+$/, knownTool],
    [/^web_(search|fetch)_\d+$/, reaching('a tool of type "web_search" or "web_fetch"', searchTool)],
    ["mcp_toolset", reaching('a tool of type "mcp_toolset"', opaque)],
    [/^code_execution_\d+$/, ranAtProvider],
  ],
  "custom",
);

const amount = object({ type: text, value: number });
const compaction = barred("price", {
  why: "the provider writes a summary, whose tokens its count of usage leaves out",
  instead: "let the program summarize",
});
const edit = variants("an edit of the context", [
  [
    /^clear_tool_uses_\d+$/,
    object({
      ...{ type: text, trigger: amount, keep: amount, clear_at_least: amount },
      ...{ exclude_tools: list(text), clear_tool_inputs: either(flag, list(text)) },
    }),
  ],
  [/^clear_thinking_\d+$/, object({ type: text, keep: either(text, amount) })],
  [/^compact_\d+$/, compaction],
]);
const jsonFormat = object({ type: text, schema });
const remoteServers: Shape = list(
  object({
    ...{ type: text, name: text, url: address("a remote server"), authorization_token: text },
    tool_configuration: opaque,
  }),
);

/** Requests for an answer and for a count of tokens. */
export const anthropicRequest: ObjectShape = object({
  ...barredEverywhere,
  compaction,
  ...{ model: text, max_tokens: number, stream: flag, stop_sequences: list(text) },
  ...{ temperature: number, top_p: number, top_k: number },
  messages: list(message),
  system: either(text, list(variants("a block of the system prompt", [["text", textBlock]]))),
  tools: list(tool),
  tool_choice: object({ type: text, name: text, disable_parallel_tool_use: flag }),
  thinking: object({ type: text, budget_tokens: number, display: text }),
  output_config: object({
    effort: text,
    format: jsonFormat,
    task_budget: object({ type: text, total: number, remaining: number }),
  }),
  output_format: jsonFormat,
  context_management: object({ edits: list(edit) }),
  metadata: object({ user_id: text }),
  cache_control: cacheControl,
  mcp_servers: reaching("`mcp_servers`", remoteServers),
});
