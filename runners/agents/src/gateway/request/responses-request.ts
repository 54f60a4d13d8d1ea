// The fields of OpenAI's responses protocol that leave the gateway:
// platform.openai.com/docs/api-reference/responses/create. Identities are left out (metadata, user,
// safety_identifier, Codex's client_metadata): no answer depends on them.
import {
  address,
  barred,
  barredEverywhere,
  closed,
  connector,
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
  ranAtProvider,
  reaching,
  schema,
  storedFile,
  text,
  type Variants,
  variants,
  word,
} from "./shape.ts";

const item: Fields = { type: text, id: text, status: text };
const cacheMark: Fields = { type: text, prompt_cache_breakpoint: object({ mode: text }) };
const annotation = object({
  ...{ type: text, index: number, start_index: number, end_index: number, title: text, url: text },
});
const textPart = object({ ...cacheMark, text });
const part = variants("a part of a message", [
  [/^(input_text|text|summary_text|reasoning_text)$/, textPart],
  ["output_text", object({ ...cacheMark, text, annotations: list(annotation), logprobs: opaque })],
  ["refusal", object({ type: text, refusal: text })],
  ["encrypted_content", object({ type: text, encrypted_content: text })],
  [
    "input_image",
    object({ ...cacheMark, image_url: dataUrl("`image_url`"), detail: text, file_id: storedFile }),
  ],
  [
    "input_file",
    object({
      ...{ ...cacheMark, file_data: inlineData("`file_data`"), filename: fileName, detail: text },
      ...{ file_id: storedFile, file_url: address("`file_url`") },
    }),
  ],
  ["input_audio", barred("price", { why: "sound has a price of its own", instead: "send text" })],
]);
const output = either(text, list(part));
const parts = list(variants("a part of reasoning", [[/^(summary_text|reasoning_text|text)$/, textPart]]));

const functionFields: Fields = {
  ...{ type: text, name: text, description: text, parameters: schema, output_schema: schema },
  ...{ strict: flag, defer_loading: flag },
};
/** Of tools that the program runs, and of namespaces of them. */
const ownTools: Variants["of"] = [
  ["function", object(functionFields)],
  ["custom", object({ type: text, name: text, description: text, defer_loading: flag, format: opaque })],
];
const runsInProgram = word(["client"], {
  changes: "reach",
  why: "the provider would run the search",
  instead: "let the program run it",
});
/** Of a shell: the program's own machine, or a container at the provider. */
const environment = variants("the environment of a shell", [
  ["local", object({ type: text, skills: list(object({ name: text, description: text, path: text })) })],
  [/^container/, ranAtProvider],
]);
const shellOutput = object({
  ...{ stdout: text, stderr: text, outcome: object({ type: text, exit_code: number }) },
});
const remoteTools = closed(
  object({
    ...{ type: text, server_label: text, server_description: text, server_url: address("a remote server") },
    ...{ headers: opaque, authorization: text, allowed_tools: opaque, require_approval: opaque },
    ...{ defer_loading: flag, connector_id: connector },
  }),
);
const tools = list(
  variants("a tool", [
    ...ownTools,
    [
      "namespace",
      object({ type: text, name: text, description: text, tools: list(variants("a tool", ownTools)) }),
    ],
    [/^(local_shell|apply_patch)$/, object({ type: text })],
    // the SDKs leave out the environment for the program's own machine
    ["shell", { ...object({ type: text, environment }), defaults: { environment: { type: "local" } } }],
    ["tool_search", object({ type: text, description: text, parameters: schema, execution: runsInProgram })],
    [
      /^web_search/,
      reaching(
        'a tool of type "web_search"',
        closed(
          object({
            ...{ type: text, search_context_size: text, user_location: opaque, filters: opaque },
            ...{ external_web_access: flag, search_content_types: list(text) },
          }),
        ),
      ),
    ],
    ["mcp", reaching('a tool of type "mcp"', remoteTools)],
    [/^(code_interpreter|file_search|image_generation)$/, ranAtProvider],
  ]),
);

const storedItem = barred("storage", {
  why: "it names an item that the provider stored, and the provider stores nothing here",
  instead: "set `store: false` in the program so that it sends whole items",
});

const call: Fields = { ...item, call_id: text, name: text, namespace: text };
const input = variants(
  "an item of the input",
  [
    ["message", object({ ...item, role: text, phase: text, content: output })],
    ["reasoning", object({ ...item, summary: parts, content: parts, encrypted_content: text })],
    ["function_call", object({ ...call, arguments: text })],
    ["custom_tool_call", object({ ...call, input: text })],
    [/^(function|custom_tool)_call_output$/, object({ ...call, output })],
    ["local_shell_call", object({ ...call, action: opaque })],
    ["local_shell_call_output", object({ ...call, output: text })],
    ["shell_call", object({ ...call, action: opaque, environment })],
    ["shell_call_output", object({ ...call, output: list(shellOutput), max_output_length: number })],
    ["apply_patch_call", object({ ...call, operation: opaque })],
    ["apply_patch_call_output", object({ ...call, output: text })],
    ["tool_search_call", object({ ...call, execution: runsInProgram, arguments: opaque })],
    ["tool_search_output", object({ ...call, execution: runsInProgram, tools })],
    [/^(context_)?compaction(_summary)?$/, object({ ...item, encrypted_content: text })],
    ["compaction_trigger", object({ type: text })],
    ["additional_tools", object({ ...item, role: text, tools })],
    ["agent_message", object({ ...item, author: text, recipient: text, content: output })],
    [/^web_search_call$|^mcp_/, reaching("a call of a tool of the provider's", opaque)],
    ["item_reference", storedItem],
    [/^(code_interpreter|file_search|image_generation)_call/, ranAtProvider],
  ],
  "message",
);

const price = { changes: "price", instead: "leave `mode` out" } as const;

export const responsesRequest: ObjectShape = object({
  ...barredEverywhere,
  ...{ model: text, instructions: text, input: either(text, list(input)), stream: flag, include: list(text) },
  ...{ max_output_tokens: number, max_tool_calls: number, temperature: number, top_p: number },
  ...{ top_logprobs: number, parallel_tool_calls: flag, prompt_cache_key: text, truncation: text },
  prompt_cache_options: object({ mode: text }),
  stream_options: object({ include_obfuscation: flag }),
  reasoning: object({
    ...{ effort: text, summary: text, generate_summary: text, context: text },
    mode: word(["standard"], { ...price, why: "a mode may have a price of its own" }),
  }),
  text: object({
    format: object({ type: text, name: text, description: text, schema, strict: flag }),
    verbosity: text,
  }),
  tools,
  tool_choice: either(
    text,
    object({
      ...{ type: text, name: text, namespace: text, server_label: text, mode: text },
      tools: list(object({ type: text, name: text, namespace: text, server_label: text })),
    }),
  ),
  context_management: list(object({ type: text, compact_threshold: number })),
  mcp_servers: reaching("`mcp_servers`", opaque),
  web_search_options: reaching("`web_search_options`", opaque),
});
