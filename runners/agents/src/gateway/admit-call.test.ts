import assert from "node:assert/strict";
import { test } from "node:test";
import { gatewayLab } from "../testing/gateway-lab.ts";
import { admitCall } from "./admit-call.ts";
import type { CallFormat, Route } from "./route-request.ts";

const user = (content: unknown) => [{ role: "user", content }];
const claude = { model: "claude-test", max_tokens: 100, messages: user("hi") };
const chat = { model: "gpt-test", messages: user("hi") };
const codex = { model: "o-test-1", input: user("hi") };
const gemini = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };
const walled = { network: false };
const paths = {
  chat: "openai/v1/chat/completions",
  codex: "openai/v1/responses",
  claude: "anthropic/v1/messages",
};

const names = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  anthropic: "anthropic",
  google: "google",
} as const;

function admitted(
  format: CallFormat,
  body: unknown,
  { network = false, kind = "call" as Route["kind"], name = "" } = {},
) {
  const protocol = names[format];
  const provider = { name: name || protocol, protocol, baseUrl: "", ids: ["*"], free: false };
  const google = format === "google" ? { model: "gemini-test", stream: false } : {};
  const route: Route = { provider, kind, format, path: "/", dropped: [], ...google };
  return admitCall(route, { bytes: Buffer.from(JSON.stringify(body)), headers: {} }, { network });
}

function sent(...asked: Parameters<typeof admitted>) {
  const call = admitted(...asked);
  assert.ok(!("refused" in call), JSON.stringify(call));
  assert.deepEqual(JSON.parse(call.body), call.request);
  return { body: call.request, dropped: call.dropped };
}

function refusal(...asked: Parameters<typeof admitted>) {
  const call = admitted(...asked);
  assert.ok("refused" in call, JSON.stringify(call));
  return call.refused;
}

// what the shipped Claude Code 2.1.197 sends in its second request, and what its kind may send
const claudeCode = {
  model: "claude-test",
  messages: [
    { role: "user", content: [{ type: "text", text: "Do it.", cache_control: { type: "ephemeral" } }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "EqQB+/==" },
        { type: "redacted_thinking", data: "Zm9v" },
        {
          type: "tool_use",
          id: "t1",
          name: "Bash",
          input: { command: "ls", nested: { type: "url", url: "http://x" } },
        },
      ],
    },
    {
      role: "user",
      content: [
        { tool_use_id: "t1", type: "tool_result", content: "(no output)", is_error: false },
        {
          type: "tool_result",
          tool_use_id: "t2",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          ],
          cache_control: { type: "ephemeral", ttl: "5m", scope: "global" },
        },
      ],
    },
  ],
  system: [{ type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }],
  tools: [
    {
      name: "Bash",
      description: "runs",
      input_schema: { type: "object", properties: { file_id: { type: "string" } } },
    },
    { type: "bash_20250124", name: "bash" },
  ],
  metadata: { user_id: '{"device_id":"f5"}' },
  max_tokens: 32000,
  thinking: { budget_tokens: 31999, type: "enabled" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  stream: true,
};

// what the shipped Codex 0.169.0 sends in its second request, and what its kind may send
const codexCli = {
  model: "o-test-1",
  stream: true,
  instructions: "You are an agent.",
  input: [
    { type: "message", id: "msg_1", role: "developer", content: [{ type: "input_text", text: "Do it." }] },
    {
      type: "message",
      role: "user",
      content: [{ type: "input_image", image_url: "data:image/png;base64,iVBO", detail: "high" }],
    },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Hm." }],
      content: null,
      encrypted_content: "gAAA==",
    },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes.", annotations: [] }] },
    {
      type: "function_call",
      status: "completed",
      name: "exec_command",
      arguments: '{"cmd":"ls"}',
      call_id: "c1",
    },
    { type: "function_call_output", id: "fco_1", call_id: "c1", output: "done" },
    {
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "function", name: "more", strict: false, parameters: {} }],
    },
    { type: "compaction", encrypted_content: "gAAB==" },
    { type: "compaction_trigger" },
    { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch" },
    { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "ok" }] },
  ],
  tools: [
    {
      type: "function",
      name: "exec_command",
      description: "runs",
      strict: false,
      parameters: { type: "object" },
    },
    {
      type: "custom",
      name: "apply_patch",
      description: "edits",
      format: { type: "grammar", syntax: "lark", definition: "x" },
    },
    {
      type: "namespace",
      name: "multi",
      description: "many",
      tools: [{ type: "function", name: "wait", strict: false, parameters: {} }],
    },
  ],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "high", summary: "auto" },
  text: {
    verbosity: "low",
    format: { type: "json_schema", name: "a", strict: true, schema: { type: "object" } },
  },
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "01a20d23",
};

const geminiCli = {
  contents: [
    { role: "user", parts: [{ text: "Do it." }, { inlineData: { mimeType: "image/png", data: "iVBO" } }] },
    {
      role: "model",
      parts: [
        { text: "Hm.", thought: true, thoughtSignature: "abc" },
        { functionCall: { id: "1", name: "sh", args: { a: [1] } } },
      ],
    },
    { role: "user", parts: [{ functionResponse: { id: "1", name: "sh", response: { output: "x" } } }] },
  ],
  systemInstruction: { role: "user", parts: [{ text: "You are an agent." }] },
  tools: [
    { functionDeclarations: [{ name: "sh", description: "runs", parametersJsonSchema: { type: "object" } }] },
  ],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  },
};

const litellm = {
  model: "gpt-test",
  messages: [
    { role: "system", content: "You are an agent." },
    {
      role: "user",
      content: [
        { type: "text", text: "See", cache_control: { type: "ephemeral" } },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBO", detail: "low" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: { name: "sh", arguments: "{}" },
          extra_content: { google: { thought_signature: "x" } },
        },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "done" },
  ],
  tools: [
    {
      type: "function",
      function: { name: "sh", description: "runs", parameters: { type: "object" }, strict: true },
    },
  ],
  response_format: {
    type: "json_schema",
    json_schema: { name: "a", schema: { type: "object" }, strict: true },
  },
  temperature: 0,
  stream: true,
  stream_options: { include_usage: true },
};

for (const [title, format, body, more] of [
  ["Claude Code", "anthropic", claudeCode, { service_tier: "standard_only" }],
  ["Codex", "openai-responses", codexCli, { store: false, service_tier: "default" }],
  ["Gemini CLI", "google", geminiCli, { serviceTier: "standard" }],
  ["Aider's kind", "openai-chat", litellm, { store: false, service_tier: "default" }],
] as const)
  test(`all of a request of ${title} leaves with equal values, and the standard tier in so many words`, () => {
    assert.deepEqual(sent(format, body), { body: { ...body, ...more }, dropped: [] });
  });

test("another server of a protocol gets no tier, and is told not to store what it would store", () => {
  assert.deepEqual(sent("openai-chat", chat, { name: "vllm" }).body, chat);
  assert.deepEqual(sent("openai-responses", codex, { name: "vllm" }).body, { ...codex, store: false });
  assert.deepEqual(sent("anthropic", claude, { name: "zai" }).body, claude);
});

test("a count of tokens gets no settings, and names only the model of its address", () => {
  assert.deepEqual(sent("anthropic", claude, { kind: "count" }).body, claude);
  const inner = { ...gemini, model: "models/other" };
  assert.deepEqual(sent("google", { generateContentRequest: inner }, { kind: "count" }).body, {
    generateContentRequest: { ...gemini, model: "models/gemini-test" },
  });
});

test("fields that say who asks are left out for OpenAI", () => {
  const who = { metadata: { a: "b" }, user: "me", safety_identifier: "me" };
  assert.deepEqual(sent("openai-responses", { ...codex, ...who }).dropped, Object.keys(who));
  assert.deepEqual(sent("openai-chat", { ...chat, ...who }).dropped, Object.keys(who));
});

const search = [{ type: "web_search_20250305", name: "web_search" }];
const barred: [format: CallFormat, body: object, says: RegExp][] = [
  [
    "anthropic",
    { ...claude, service_tier: "priority" },
    /`service_tier` "priority" is refused.*the price.*leave it out/,
  ],
  ["anthropic", { ...claude, speed: "fast" }, /`speed`.*the price/],
  ["anthropic", { ...claude, inference_geo: "us" }, /`inference_geo`.*the price/],
  ["anthropic", { ...claude, container: "c1" }, /`container`.*stores/],
  ["anthropic", { ...claude, fallbacks: "default" }, /`fallbacks`.*the price/],
  [
    "anthropic",
    { ...claude, mcp_servers: [{ type: "url", url: "http://x", name: "x" }] },
    /`mcp_servers`.*would reach a network/,
  ],
  [
    "anthropic",
    { ...claude, cache_control: { type: "ephemeral", ttl: "1h" } },
    /`cache_control.ttl` "1h".*the price/,
  ],
  [
    "anthropic",
    { ...claude, system: [{ type: "text", text: "x", cache_control: { type: "ephemeral", ttl: "1h" } }] },
    /ttl/,
  ],
  [
    "anthropic",
    { ...claude, context_management: { edits: [{ type: "compact_20260112" }] } },
    /the price.*summary/,
  ],
  [
    "anthropic",
    { ...claude, tools: [{ type: "code_execution_20250825", name: "x" }] },
    /runs at the provider/,
  ],
  [
    "anthropic",
    { ...claude, tools: [{ type: "advisor_20260301", name: "x" }] },
    /a tool of type "advisor_20260301"/,
  ],
  ["anthropic", { ...claude, tools: search }, /would reach a network/],
  [
    "anthropic",
    { ...claude, messages: user([{ type: "image", source: { type: "file", file_id: "f" } }]) },
    /stores/,
  ],
  [
    "anthropic",
    { ...claude, messages: user([{ type: "container_upload", file_id: "f" }]) },
    /runs at the provider/,
  ],
  [
    "anthropic",
    { ...claude, messages: user([{ type: "new_block" }]) },
    /a content block of type "new_block"/,
  ],
  [
    "anthropic",
    { ...claude, system: [{ type: "document", source: { type: "url", url: "http://x" } }] },
    /system prompt/,
  ],
  [
    "openai-responses",
    { ...codex, previous_response_id: "r1" },
    /`previous_response_id` "r1".*stores.*send the whole conversation/,
  ],
  ["openai-responses", { ...codex, conversation: { id: "c" } }, /`conversation`.*stores/],
  ["openai-responses", { ...codex, store: true }, /`store` true.*stores/],
  ["openai-responses", { ...codex, background: true }, /`background`.*stores/],
  ["openai-responses", { ...codex, prompt: { id: "p" } }, /`prompt`.*stores/],
  ["openai-responses", { ...codex, service_tier: "flex" }, /`service_tier` "flex".*the price/],
  ["openai-responses", { ...codex, prompt_cache_retention: "24h" }, /`prompt_cache_retention`.*stores/],
  ["openai-responses", { ...codex, reasoning: { mode: "pro" } }, /`reasoning.mode` "pro".*the price/],
  [
    "openai-responses",
    { ...codex, input: [{ type: "item_reference", id: "msg_1" }] },
    /the provider stores nothing here; set `store: false` in the program so that it sends whole items/,
  ],
  ["openai-responses", { ...codex, input: [{ id: "fc_1" }] }, /the provider stores nothing here/],
  ["openai-responses", { ...codex, input: [{ type: null, id: "fc_1" }] }, /the provider stores nothing here/],
  [
    "openai-responses",
    { ...codex, input: user([{ type: "input_file", file_id: "f" }]) },
    /`input\[\]\.content\[\]\.file_id`.*stores/,
  ],
  [
    "openai-responses",
    { ...codex, input: user([{ type: "input_file", file_url: "http://x" }]) },
    /would reach a network/,
  ],
  [
    "openai-responses",
    { ...codex, input: user([{ type: "input_file", file_data: "http://x" }]) },
    /would reach a network/,
  ],
  [
    "openai-responses",
    { ...codex, input: user([{ type: "input_image", image_url: "//x/y" }]) },
    /would reach a network/,
  ],
  [
    "openai-responses",
    {
      ...codex,
      input: [
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_image", image_url: "http://x" }],
        },
      ],
    },
    /would reach a network/,
  ],
  [
    "openai-responses",
    { ...codex, tools: [{ type: "shell", environment: { type: "container_auto" } }] },
    /runs at the provider/,
  ],
  [
    "openai-responses",
    { ...codex, tools: [{ type: "tool_search", execution: "server" }] },
    /the provider would run/,
  ],
  [
    "openai-responses",
    { ...codex, tools: [{ type: "namespace", name: "n", tools: [{ type: "mcp", server_url: "http://x" }] }] },
    /a tool of type "mcp"/,
  ],
  ["openai-chat", { ...chat, service_tier: "priority" }, /`service_tier`.*the price/],
  ["openai-chat", { ...chat, store: true }, /`store`/],
  ["openai-chat", { ...chat, previous_response_id: "r" }, /`previous_response_id`/],
  ["openai-chat", { ...chat, modalities: ["text", "audio"] }, /`modalities`.*the price/],
  ["openai-chat", { ...chat, models: ["gpt-dear"] }, /`models`.*the price/],
  ["openai-chat", { ...chat, web_search_options: {} }, /`web_search_options`.*would reach a network/],
  ["openai-chat", { ...chat, messages: user([{ type: "file", file: { file_id: "f" } }]) }, /stores/],
  ["openai-chat", { ...chat, messages: user([{ type: "input_audio", input_audio: {} }]) }, /the price/],
  ["google", { ...gemini, cachedContent: "c" }, /`cachedContent`.*stores/],
  ["google", { ...gemini, cached_content: "c" }, /`cached_content`.*stores/],
  ["google", { ...gemini, service_tier: "priority" }, /`service_tier`.*the price/],
  [
    "google",
    { ...gemini, systemInstruction: { parts: [{ fileData: { fileUri: "http://x" } }] } },
    /would reach a network/,
  ],
  [
    "google",
    { ...gemini, system_instruction: { parts: [{ file_data: { file_uri: "http://x" } }] } },
    /would reach a network/,
  ],
  ["google", { ...gemini, tools: [{ googleSearch: {} }] }, /would reach a network/],
  ["google", { ...gemini, tools: [{ url_context: {} }] }, /would reach a network/],
  [
    "google",
    { ...gemini, tools: [{ newTool: {} }] },
    /`tools\[\]\.newTool` is refused.*known are functionDecl/,
  ],
  ["google", { ...gemini, tools: [{ computer_use: {} }] }, /`tools\[\]\.computer_use` is refused/],
  ["google", { ...gemini, tools: [{ codeExecution: {} }] }, /runs at the provider/],
  ["google", { contents: [{ parts: [{ inlineData: { mimeType: "audio/wav", data: "x" } }] }] }, /the price/],
  [
    "google",
    { ...gemini, generationConfig: { responseModalities: ["TEXT", "IMAGE"] } },
    /"IMAGE".*the price/,
  ],
  ["google", { ...gemini, generation_config: { speech_config: {} } }, /the price/],
];

for (const [format, body, says] of barred)
  test(`refused: ${format} with ${JSON.stringify(body).slice(-90)}`, () => {
    const { status, detail } = refusal(format, body);
    assert.match(detail, says);
    assert.equal(status, 403);
  });

test("null, and the value by default, are no reason to refuse a field that can cost", () => {
  const harmless = {
    service_tier: "auto",
    store: false,
    background: false,
    previous_response_id: null,
    prompt: null,
  };
  assert.deepEqual(sent("openai-responses", { ...codex, ...harmless }), {
    body: { ...codex, store: false, service_tier: "default" },
    dropped: [],
  });
  assert.equal(
    sent("anthropic", { ...claude, mcp_servers: [], speed: "standard" }).body.mcp_servers,
    undefined,
  );
});

for (const [title, format, body] of [
  ["a list of the harmless word", "openai-chat", { ...chat, modalities: ["text"] }],
  ["the harmless word in capitals", "google", { ...gemini, serviceTier: "STANDARD" }],
  ["the harmless word of protocol buffers", "google", { ...gemini, service_tier: "SERVICE_TIER_STANDARD" }],
  ["a list of one flag", "openai-responses", { ...codex, background: [false] }],
] as const)
  test(`${title} is left out like a missing field: ${format}`, () => {
    const given = { "openai-chat": chat, google: gemini, "openai-responses": codex }[format];
    assert.deepEqual(sent(format, body), sent(format, given));
  });

test("a harmless word beside another one is refused", () => {
  for (const modalities of [["text", "text", "audio"], ["audio"], [], "audio"])
    assert.equal(refusal("openai-chat", { ...chat, modalities }).status, 403);
});

test("a seed of 64 bits leaves as it is written", () => {
  const provider = { name: "openai", protocol: "openai" as const, baseUrl: "", ids: ["*"], free: false };
  const route: Route = { provider, kind: "call", format: "openai-chat", path: "/", dropped: [] };
  const bytes = Buffer.from(JSON.stringify(chat).replace("{", '{"seed":9223372036854775807,'));
  const call = admitCall(route, { bytes, headers: {} }, walled);
  assert.ok(!("refused" in call), JSON.stringify(call));
  assert.match(call.body, /"seed":9223372036854775807/);
});

test("the shell that the program runs is a tool of its own", () => {
  const environment = { type: "local", skills: [{ name: "a", description: "b", path: "/c" }] };
  const body = {
    ...codex,
    tools: [{ type: "shell", environment }],
    input: [
      { type: "shell_call", id: "s", call_id: "c", action: { commands: ["ls"], timeout_ms: 1 } },
      { type: "shell_call", call_id: "d", action: { commands: ["ls"] }, environment: { type: "local" } },
      {
        type: "shell_call_output",
        call_id: "c",
        output: [{ stdout: "x", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
        max_output_length: 9,
      },
    ],
  };
  const { body: request, dropped } = sent("openai-responses", body);
  assert.deepEqual([request.tools, request.input, dropped], [body.tools, body.input, []]);
});

test("a shell without an environment is sent as the program's own, in so many words", () => {
  for (const tool of [{ type: "shell" }, { type: "shell", environment: null }])
    assert.deepEqual(sent("openai-responses", { ...codex, tools: [tool] }).body.tools, [
      { type: "shell", environment: { type: "local" } },
    ]);
});

test("a shell whose environment is unknown or the provider's is refused", () => {
  for (const environment of [{}, { type: null }, { type: "other" }, { type: "container_reference" }])
    assert.match(
      refusal("openai-responses", { ...codex, tools: [{ type: "shell", environment }] }).detail,
      /environment/,
    );
});

test("reasoning that only a stored conversation could hold is left out, and each kind is named once", () => {
  const kept = [
    { role: "user", content: "hi" },
    { type: "reasoning", id: "rs_9", summary: [], encrypted_content: "gAAA==" },
    { type: "function_call", id: "fc_1", call_id: "c", name: "sh", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: "x" },
  ] as const;
  const stored = [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] },
    { type: "reasoning", id: "rs_2", summary: [], encrypted_content: null, content: [] },
    { type: "item_reference", id: "rs_3" },
    { id: "rs_4" },
    { type: "reasoning", id: "rs_5", summary: [], encrypted_content: "" },
  ];
  const input = [kept[0], ...stored, ...kept.slice(1), ...stored];
  const { body, dropped } = sent("openai-responses", { ...codex, input });
  assert.deepEqual(body.input, kept);
  assert.deepEqual(dropped, [
    "input[] (reasoning without encrypted_content)",
    "input[] (item_reference to reasoning)",
  ]);
});

test("reasoning whose text another server sent goes back to it", () => {
  const reasoning = {
    type: "reasoning",
    id: "rs_1",
    summary: [],
    content: [{ type: "reasoning_text", text: "Hm." }],
  };
  const body = { ...codex, input: [reasoning] };
  assert.deepEqual(sent("openai-responses", body, { name: "vllm" }).body.input, [reasoning]);
  assert.deepEqual(sent("openai-responses", body).body.input, []);
});

const kinds = ["audio/wav", " Audio/mpeg", "video/mp4", "VIDEO/webm", "application/ogg", "application/mp4"];
const typed = (kind: string): [format: CallFormat, body: object][] => {
  const url = `data:${kind};codecs=opus;base64,AAAA`;
  return [
    ["openai-chat", { ...chat, messages: user([{ type: "image_url", image_url: { url } }]) }],
    ["openai-chat", { ...chat, messages: user([{ type: "file", file: { file_data: url } }]) }],
    ["openai-responses", { ...codex, input: user([{ type: "input_image", image_url: url }]) }],
    ["openai-responses", { ...codex, input: user([{ type: "input_file", file_data: url }]) }],
    ["google", { contents: [{ parts: [{ inline_data: { mime_type: kind, data: "x" } }] }] }],
    [
      "anthropic",
      {
        ...claude,
        messages: user([{ type: "image", source: { type: "base64", media_type: kind, data: "x" } }]),
      },
    ],
  ];
};

test("sound and film are refused wherever their type is named, with a network too", () => {
  for (const network of [false, true])
    for (const [format, body] of kinds.flatMap(typed))
      assert.match(refusal(format, body, { network }).detail, /sound and film/, JSON.stringify(body));
});

test("pictures and documents in data URLs leave", () => {
  for (const kind of ["image/png", "application/pdf", "text/plain", ""])
    for (const [format, body] of typed(kind)) assert.deepEqual(sent(format, body).dropped, []);
});

test("what limits a search is forwarded, and an unknown limit is refused instead of dropped", () => {
  const network = { network: true };
  const limited: [format: CallFormat, given: object, tool: object][] = [
    ["openai-responses", codex, { type: "web_search", external_web_access: false, filters: { a: ["b"] } }],
    ["anthropic", claude, { ...search[0], allowed_domains: ["a.org"], allowed_callers: ["direct"] }],
  ];
  for (const [format, given, tool] of limited) {
    assert.deepEqual(sent(format, { ...given, tools: [tool] }, network).body.tools, [tool]);
    const { status, detail } = refusal(format, { ...given, tools: [{ ...tool, only_here: true }] }, network);
    assert.match(detail, /`tools\[\]\.only_here` true is refused.*what the call reaches.*leave it out/);
    assert.equal(status, 403);
  }
});

test("the refusal of a model that may search says how to allow it", () => {
  const model = "gpt-4o-search-preview";
  const { status, detail } = refusal("openai-chat", { ...chat, model });
  assert.equal(status, 403);
  assert.match(detail, /may search, and this attempt has no network: list its whole id in the preset/);
  assert.equal(sent("openai-chat", { ...chat, model }, { network: true }).body.model, model);
});

const mistyped: [format: CallFormat, body: object, says: RegExp][] = [
  ["anthropic", { ...claude, messages: { 0: user("x")[0] } }, /`messages` must be a list/],
  ["anthropic", { ...claude, tools: { 0: search[0] } }, /`tools` must be a list/],
  ["anthropic", { ...claude, tools: ["web_search"] }, /`tools\[\]` must be an object/],
  ["anthropic", { ...claude, system: { type: "text", text: "x" } }, /`system` must be a text or a list/],
  [
    "anthropic",
    { ...claude, messages: user({ type: "image" }) },
    /`messages\[\]\.content` must be a text or a list/,
  ],
  ["anthropic", { ...claude, max_tokens: "100" }, /`max_tokens` must be a number/],
  ["openai-chat", { ...chat, messages: { 0: user("x")[0] } }, /`messages` must be a list/],
  ["openai-chat", { ...chat, stream: "true" }, /`stream` must be true or false/],
  ["openai-responses", { ...codex, input: { role: "user" } }, /`input` must be a text or a list/],
  ["google", { contents: gemini.contents[0] }, /`contents` must be a list/],
  ["google", { ...gemini, tools: { googleSearch: {} } }, /`tools` must be a list/],
  [
    "google",
    { ...gemini, systemInstruction: { parts: { fileData: {} } } },
    /`systemInstruction\.parts` must be a list/,
  ],
  ["google", { ...gemini, generationConfig: {}, generation_config: {} }, /two spellings/],
];

for (const [format, body, says] of mistyped)
  test(`of another type: ${format} with ${JSON.stringify(body).slice(-80)}`, () => {
    const { status, detail } = refusal(format, body);
    assert.match(detail, says);
    assert.equal(status, 400);
  });

test("with a network, searches and content by address leave; files and code at the provider do not", () => {
  const network = { network: true };
  const image = user([{ type: "image", source: { type: "url", url: "http://x" } }]);
  const body = { ...claude, tools: search, messages: image };
  assert.deepEqual(sent("anthropic", body, network).body, { ...body, service_tier: "standard_only" });
  assert.equal(
    refusal("openai-responses", { ...codex, tools: [{ type: "code_interpreter" }] }, network).status,
    403,
  );
  assert.equal(refusal("openai-responses", { ...codex, background: true }, network).status, 403);
});

test("the provider gets the rebuilt body: neither the program's text, nor an unknown field, header or parameter", async (t) => {
  const { ask, provider, requests } = await gatewayLab(t, () => ({ text: "ok" }));
  const body =
    '{ "model":"claude-test", "max_tokens":1e2, "messages":[{"role":"user","content":"\\u0068i","x":1}], "y":2 }';
  const headers = {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "files-api-2025-04-14, interleaved-thinking-2025-05-14,claude-code-20250219",
    "x-stainless-os": "secret",
  };
  for (let time = 0; time < 2; time++)
    assert.equal((await ask(`${paths.claude}?beta=true&debug=1`, body, headers)).status, 200);
  const [seen] = provider.seen;
  assert.deepEqual(seen!.body, { ...claude, service_tier: "standard_only" });
  assert.equal(seen!.headers["anthropic-beta"], "interleaved-thinking-2025-05-14,claude-code-20250219");
  assert.equal(seen!.headers["anthropic-version"], "2023-06-01");
  assert.equal(seen!.headers["x-stainless-os"], undefined);
  const dropped = requests.flatMap((event) => (event.event === "model-request" ? [event.dropped ?? []] : []));
  const names = ["messages[].x", "y", "anthropic-beta: files-api-2025-04-14", "?debug"];
  assert.deepEqual(dropped, [names, []], "each name is recorded once");
  const settings = requests.find((event) => event.event === "request-part" && event.part === "settings");
  assert.ok(settings?.event === "request-part");
  assert.deepEqual(JSON.parse(String(settings.text)), {
    model: "claude-test",
    max_tokens: 100,
    service_tier: "standard_only",
  });
});

test("a key that is there twice is refused before anything reaches the provider", async (t) => {
  const { ask, provider, spent } = await gatewayLab(t, []);
  for (const [path, body] of [
    [paths.chat, '{"model":"gpt-test","messages":[],"store":false,"st\\u006fre":true}'],
    [paths.claude, '{"model":"claude-test","messages":[{"role":"user","content":"x","content":"y"}]}'],
    [paths.codex, '{"model":"o-test-1","model":"o-test-2","input":"x"}'],
  ] as const) {
    const answer = await ask(path, body);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /appears twice/);
  }
  assert.deepEqual([provider.seen.length, spent.charges], [0, 0]);
});
