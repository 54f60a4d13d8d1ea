import assert from "node:assert/strict";
import { test } from "node:test";
import { admitCall } from "../admit-call.ts";
import type { CallFormat, Route } from "../route-request.ts";
import { addressKind, remoteReference } from "./remote-reference.ts";
import { isSoundOrFilm } from "./sound-or-film.ts";

const protocols = {
  "openai-chat": "openai",
  "openai-responses": "openai",
  anthropic: "anthropic",
  google: "google",
} as const;

function admitted(format: CallFormat, body: unknown, { network = false } = {}) {
  const protocol = protocols[format];
  const provider = { name: protocol, protocol, baseUrl: "", ids: ["*"], free: false };
  const route: Route = {
    ...{ provider, kind: "call", format, path: "/", dropped: [] },
    ...(format === "google" && { model: "m", stream: false }),
  };
  return admitCall(route, { bytes: Buffer.from(JSON.stringify(body)), headers: {} }, { network });
}

const user = (content: unknown) => [{ role: "user", content }];
const chat = (more: object) => ({ model: "m", messages: user("hi"), ...more });
const responses = (more: object) => ({ model: "m", input: user("hi"), ...more });
const claude = (more: object) => ({ model: "m", max_tokens: 9, messages: user("hi"), ...more });
const gemini = (part: object, more = {}) => ({ contents: [{ role: "user", parts: [part] }], ...more });

/** Every place of a request that takes an address. */
const addressed = (url: string): [format: CallFormat, body: object][] => [
  ["openai-chat", chat({ messages: user([{ type: "image_url", image_url: { url } }]) })],
  ["openai-chat", chat({ messages: user([{ type: "image_url", image_url: url }]) })],
  ["openai-chat", chat({ messages: user([{ type: "file", file: { file_data: url } }]) })],
  ["openai-responses", responses({ input: user([{ type: "input_image", image_url: url }]) })],
  ["openai-responses", responses({ input: user([{ type: "input_file", file_url: url }]) })],
  ["openai-responses", responses({ input: user([{ type: "input_file", file_data: url }]) })],
  ["openai-responses", responses({ tools: [{ type: "mcp", server_label: "x", server_url: url }] })],
  ["anthropic", claude({ messages: user([{ type: "image", source: { type: "url", url } }]) })],
  ["anthropic", claude({ messages: user([{ type: "document", source: { type: "url", url } }]) })],
  ["anthropic", claude({ mcp_servers: [{ type: "url", name: "x", url }] })],
  ["google", gemini({ fileData: { fileUri: url } })],
  ["google", gemini({ file_data: { file_uri: url, mime_type: "image/png" } })],
  [
    "google",
    gemini({ functionResponse: { name: "f", response: {}, parts: [{ fileData: { fileUri: url } }] } }),
  ],
];

const pages = [
  "https://a.org/x.png",
  "http://x",
  "//a.org/x",
  "https://www.youtube.com/watch?v=1",
  "HTTPS://A.ORG",
];
const stores = [
  ...[
    "gs://bucket/x",
    "s3://bucket/x",
    "file:///etc/hostname",
    "files/abc-123:x",
    "FILE:///x",
    "ftp://a.org/x",
  ],
  ...["https://generativelanguage.googleapis.com/v1beta/files/a", "https://api.openai.com/v1/files/a"],
  ...["https://API.anthropic.com./v1/files/a", "//generativelanguage.googleapis.com/v1beta/files/a"],
];

test("without a network, no address of content leaves in any protocol", () => {
  for (const url of [...pages, ...stores])
    for (const [format, body] of addressed(url)) {
      const call = admitted(format, body);
      assert.ok("refused" in call, JSON.stringify(body));
      assert.equal(call.refused.status, 403);
    }
});

test("with a network, an address of a page leaves and is recorded", () => {
  for (const url of pages)
    for (const [format, body] of addressed(url)) {
      const call = admitted(format, body, { network: true });
      assert.ok(!("refused" in call), JSON.stringify(call));
      assert.ok(call.reaches.length > 0 && call.body.includes(url), call.body);
    }
});

test("with a network too, an address of what the operator's account stores is refused", () => {
  for (const url of stores)
    for (const [format, body] of addressed(url)) {
      const call = admitted(format, body, { network: true });
      assert.ok("refused" in call, JSON.stringify(body));
      assert.match(call.refused.detail, /names a file that the provider stores; send the content itself/);
    }
});

test("an ordinary page whose name resembles a provider's is a page", () => {
  for (const url of [
    "https://notapi.openai.com.evil.org/x",
    "https://xapi.openai.com/x",
    "https://a.org/gs://x",
  ])
    assert.equal(addressKind(url), "web");
});

test("a connector of the operator's account, and an unknown field of a remote tool, are refused with a network too", () => {
  for (const more of [{ connector_id: "connector_gmail" }, { tunnel_id: "t" }]) {
    const tool = { type: "mcp", server_label: "x", ...more };
    const call = admitted("openai-responses", responses({ tools: [tool] }), { network: true });
    assert.ok("refused" in call);
  }
});

const schemas = (value: unknown): [format: CallFormat, body: object][] => [
  ["openai-chat", chat({ tools: [{ type: "function", function: { name: "f", parameters: value } }] })],
  ["openai-chat", chat({ functions: [{ name: "f", parameters: value }] })],
  [
    "openai-chat",
    chat({ response_format: { type: "json_schema", json_schema: { name: "x", schema: value } } }),
  ],
  ["openai-chat", chat({ response_format: { type: "json_object", schema: value } })],
  ["openai-chat", chat({ guided_json: value })],
  ["openai-responses", responses({ tools: [{ type: "function", name: "f", parameters: value }] })],
  ["openai-responses", responses({ text: { format: { type: "json_schema", name: "x", schema: value } } })],
  ["anthropic", claude({ tools: [{ name: "f", input_schema: value }] })],
  ["anthropic", claude({ output_config: { format: { type: "json_schema", schema: value } } })],
  [
    "google",
    gemini({ text: "x" }, { tools: [{ functionDeclarations: [{ name: "f", parameters: value }] }] }),
  ],
  ["google", gemini({ text: "x" }, { generation_config: { response_json_schema: value } })],
];

const remote = [
  { $ref: "https://a.org/s.json" },
  { properties: { a: { items: [{ $ref: "http://a.org/s.json#/x" }] } } },
  { allOf: [{ $dynamicRef: "//a.org/s" }] },
  { $ref: "file:///etc/x.json" },
  { $id: "https://a.org/root", $defs: { a: { $ref: "other.json" } } },
];

test("a JSON Schema that refers to another document leaves only with a network, in every place of a schema", () => {
  for (const value of remote)
    for (const [format, body] of schemas(value)) {
      const call = admitted(format, body);
      assert.ok("refused" in call, JSON.stringify(body));
      assert.match(call.refused.detail, /the reference ".*" of a JSON Schema .*would reach a network/);
    }
  for (const [format, body] of schemas(remote[0])) {
    const call = admitted(format, body, { network: true });
    assert.ok(!("refused" in call) && call.reaches.length === 1, JSON.stringify(call));
  }
});

test("an ordinary JSON Schema leaves unchanged, also with names and examples that look like references", () => {
  const value = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://a.org/root",
    type: "object",
    properties: {
      $ref: { type: "string", default: "https://a.org" },
      url: { format: "uri" },
      b: { $ref: "#/$defs/b" },
    },
    $defs: { b: { $ref: "#" } },
  };
  assert.equal(remoteReference(value), undefined);
  for (const [format, body] of schemas(value)) {
    const call = admitted(format, body);
    assert.ok(!("refused" in call), JSON.stringify(call));
    assert.ok(call.body.includes(JSON.stringify(value)));
    assert.deepEqual(call.reaches, []);
  }
});

const bytes = (text: string) => Buffer.from(text, "latin1").toString("base64");
const media: [what: string, bytes: string][] = [
  ["an MP3 with a tag", "ID3\x04\0\0\0"],
  ["an MP3", "\xff\xfb\x90\x64"],
  ["AAC", "\xff\xf1\x50\x80"],
  ["WAV", "RIFF\x24\0\0\0WAVEfmt "],
  ["AVI", "RIFF\x24\0\0\0AVI LIST"],
  ["Ogg", "OggS\0\x02"],
  ["FLAC", "fLaC\0\0\0\x22"],
  ["an MP4", "\0\0\0\x20ftypisom"],
  ["an M4A", "\0\0\0\x20ftypM4A "],
  ["WebM", "\x1a\x45\xdf\xa3\x9f"],
  ["AIFF", "FORM\0\0\0\x10AIFF"],
  ["MPEG", "\0\0\x01\xba\x44"],
  ["a transport stream", `G${"\x40".repeat(187)}G${"\x40".repeat(187)}G`],
];
const pictures: [what: string, bytes: string][] = [
  ["PNG", "\x89PNG\r\n\x1a\n"],
  ["JPEG", "\xff\xd8\xff\xe0\0\x10JFIF"],
  ["GIF", `GIF89a${"\0".repeat(600)}`],
  ["WebP", "RIFF\x24\0\0\0WEBPVP8 "],
  ["HEIC", "\0\0\0\x18ftypheic"],
  ["AVIF", "\0\0\0\x18ftypavif"],
  ["PDF", "%PDF-1.7"],
  ["ZIP", "PK\x03\x04"],
  ["text", "ID3 tags, OggS and fLaC are formats of sound"],
  ["text in UTF-16", "\xff\xfeh\0i\0"],
  ["nothing", ""],
];

/** Every place of a request that takes bytes, under a harmless type. */
const inline = (data: string, name = "x.bin"): [format: CallFormat, body: object][] => [
  ["openai-chat", chat({ messages: user([{ type: "file", file: { filename: name, file_data: data } }]) })],
  [
    "openai-chat",
    chat({
      messages: user([{ type: "image_url", image_url: `data:application/octet-stream;base64,${data}` }]),
    }),
  ],
  [
    "openai-responses",
    responses({ input: user([{ type: "input_file", filename: name, file_data: `data:;base64,${data}` }]) }),
  ],
  [
    "anthropic",
    claude({
      messages: user([{ type: "document", source: { type: "base64", media_type: "application/pdf", data } }]),
    }),
  ],
  ["google", gemini({ inlineData: { mimeType: "application/octet-stream", data } })],
];

test("sound and film are refused by their bytes, whatever names them", () => {
  for (const [what, content] of media) {
    assert.ok(isSoundOrFilm.base64(bytes(content)), what);
    for (const [format, body] of inline(bytes(content))) {
      const call = admitted(format, body, { network: true });
      assert.ok("refused" in call, `${what}: ${JSON.stringify(body)}`);
      assert.match(call.refused.detail, /sound and film have prices of their own/);
    }
  }
});

test("pictures, documents and texts leave, whatever their first bytes resemble", () => {
  for (const [what, content] of pictures)
    for (const [format, body] of inline(bytes(content)))
      assert.ok(!("refused" in admitted(format, body)), `${what}: ${JSON.stringify(body)}`);
});

test("sound and film are refused by the name of a file", () => {
  for (const filename of ["a.mp3", "A.MP4", "a.b.WebM", "x.m4a ", "talk.opus"])
    for (const [format, body] of inline("AAAA", filename).filter(([, one]) =>
      JSON.stringify(one).includes(filename),
    )) {
      const call = admitted(format, body);
      assert.ok("refused" in call && /sound and film/.test(call.refused.detail), filename);
    }
  for (const filename of ["a.pdf", "a.ts", "mp3", "mp3.txt", ".mp3.md"])
    assert.ok(!isSoundOrFilm["file-name"](filename));
});

test("a chat template of the program's is refused, and other settings of a template leave", () => {
  for (const name of ["chat_template", "tokenize"]) {
    const call = admitted("openai-chat", chat({ chat_template_kwargs: { [name]: "{{ x }}" } }));
    assert.ok("refused" in call && call.refused.detail.includes(name));
  }
  const body = chat({ chat_template_kwargs: { enable_thinking: false, anything: [1] } });
  const call = admitted("openai-chat", body);
  assert.ok(!("refused" in call) && call.body.includes('{"enable_thinking":false,"anything":[1]}'));
});

test("annotations of earlier answers leave without ids of files and containers", () => {
  const annotations = [
    { type: "container_file_citation", title: "x", file_id: "f", container_id: "c", filename: "x" },
  ];
  const input = [
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "x", annotations }] },
  ];
  const call = admitted("openai-responses", responses({ input }));
  assert.ok(!("refused" in call));
  assert.ok(!/file_id|container_id|filename/.test(call.body));
  assert.ok(call.dropped.includes("input[].content[].annotations[].container_id"));
});
