// Requests and answers that try to pass the gateway below its protocols: addresses, headers, encodings and
// lengths.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { ModelCallEvent, ModelTryEvent } from "@mlrb/formats/attempt/trajectory";
import { AttemptMeter } from "../attempt/attempt-meter.ts";
import { gatewayLab, realKey, token } from "../testing/gateway-lab.ts";
import { testClock } from "../testing/test-clock.ts";
import { routeRequest } from "./route-request.ts";

const chat = { model: "gpt-test", messages: [{ role: "user", content: "hi" }] };
const body = JSON.stringify(chat);
const path = "/openai/v1/chat/completions";
const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

/** Sends bytes as they are; returns what came until the connection was closed or was silent for a while. */
function raw(port: number, request: string | Buffer, { quietMs = 300 } = {}): Promise<string> {
  return new Promise((resolve) => {
    let said = "";
    const socket = connect(port, "127.0.0.1");
    const end = () => {
      socket.destroy();
      resolve(said);
    };
    socket.setTimeout(quietMs, end);
    socket.on("data", (bytes) => {
      said += bytes;
    });
    socket.on("error", () => {});
    socket.on("close", end);
    socket.write(request);
  });
}

const post = (target: string, headers = "", content = body) =>
  `POST ${target} HTTP/1.1\r\n${auth}${headers}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;

const targets = [
  ...["/openai/v1/messages", "/openai/v1/messages/batches", "/openai/v1/batches", "/openai/v1/files"],
  ...["/openai/v1/responses/resp_1", "/openai/v1/responses/compact", "/openai/v1/responses/resp_1/cancel"],
  ...[
    "/openai/v1/conversations",
    "/openai/v1/vector_stores",
    "/openai/v1/chat/completions/",
    "/openai/v1/containers",
  ],
  ...[
    "/openai/v1/chat%2Fcompletions",
    "/openai/v1/chat/completions%2F..%2Fresponses",
    "/openai%2Fv1/responses",
  ],
  ...["//openai/v1/chat/completions", "/openai//v1/chat/completions", "/openai/v1//chat/completions"],
  ...["/openai/v1/CHAT/completions", "/OPENAI/v1/chat/completions", "/openai/V1/chat/completions"],
  ...["/openai/v1/v1/chat/completions", "/openai/v1/../v1/chat/completions", "/openai/./v1/chat/completions"],
  ...["/openai/v1/chat/completions;x", "/openai/v1/chat/completions#x", "/openai\\v1\\chat\\completions"],
  ...[
    "/anthropic/v1/messages/batches",
    "/anthropic/v1/messages/batches/b",
    "/anthropic/v1/files",
    "/anthropic/v1/complete",
  ],
  ...[
    "/anthropic/v1/messages/count_tokens/x",
    "/anthropic/v1/organizations/usage_report",
    "/anthropic/v1/skills",
  ],
  ...["http://evil.example/openai/v1/chat/completions", "*", "/"],
];

test("no other address of a provider is reached, however it is written", async (t) => {
  const { port, provider, spent } = await gatewayLab(t, []);
  for (const target of targets) {
    const said = await raw(port, post(target));
    assert.match(said, /^HTTP\/1\.1 4\d\d /, `${target}: ${said.slice(0, 100)}`);
  }
  for (const method of ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"])
    assert.match(await raw(port, post(path).replace("POST", method)), /^HTTP\/1\.1 4\d\d /, method);
  assert.deepEqual([provider.seen.length, provider.turnedAway(), spent.charges], [0, 0, 0]);
});

test("headers that choose an account, a method, a host or a feature stay here", async (t) => {
  const { ask, provider } = await gatewayLab(t, [{ text: "ok" }, { text: "ok" }]);
  const headers = {
    "openai-organization": "org-1",
    "openai-project": "p",
    "x-goog-user-project": "p",
    "x-api-key": realKey,
    "x-http-method-override": "DELETE",
    "x-forwarded-host": "evil.example",
    forwarded: "host=evil.example",
    ...{ "x-original-url": "/v1/files", "anthropic-dangerous-direct-browser-access": "true", cookie: "a=b" },
    "openai-beta": "assistants=v2,responses=experimental",
    "x-litellm-tags": "x",
    traceparent: "00-1-1-00",
    "anthropic-beta": "context-1m-2025-08-07,fast-mode-2026-02-01,files-api-2025-04-14,claude-code-20250219",
  };
  const claude = { model: "claude-test", max_tokens: 9, messages: chat.messages };
  assert.equal((await ask("openai/v1/chat/completions", chat, headers)).status, 200);
  assert.equal((await ask("anthropic/v1/messages", claude, headers)).status, 200);
  const own = ["accept-encoding", "authorization", "connection", "content-length", "content-type", "host"];
  const sent = provider.seen.map((one) => Object.keys(one.headers).sort());
  assert.deepEqual(sent[0], [...own, "openai-beta", "user-agent"]);
  assert.deepEqual(sent[1], [
    "accept-encoding",
    "anthropic-beta",
    ...own.slice(2),
    "user-agent",
    "x-api-key",
  ]);
  assert.equal(provider.seen[0]!.headers["openai-beta"], "responses=experimental");
  assert.equal(provider.seen[1]!.headers["anthropic-beta"], "claude-code-20250219");
});

test("parameters of the query stay here, also when they are there twice or encoded", () => {
  const query = "service_tier=priority&%73tore=true&beta=true&beta=false&alt=sse&alt=json&key=x";
  for (const [url, kept] of [
    ["/openai/v1/chat/completions", "/chat/completions"],
    ["/anthropic/v1/messages", "/messages?beta=true"],
    ["/google/v1beta/models/m:generateContent", "/models/m:generateContent?alt=sse"],
  ] as const) {
    const providers = (["openai", "anthropic", "google"] as const).map((name) => ({
      ...{ name, protocol: name, baseUrl: "", ids: ["*"], free: false },
    }));
    const headers = { authorization: `Bearer ${token}` };
    const route = routeRequest({ method: "POST", url: `${url}?${query}`, headers }, { providers, token });
    assert.ok(!("refused" in route), JSON.stringify(route));
    assert.equal(route.path, kept);
    assert.ok(route.dropped.includes("?service_tier") && route.dropped.includes("?store"));
  }
});

test("a compressed body is refused before it is read, whatever names its encoding", async (t) => {
  const { port, provider } = await gatewayLab(t, []);
  const bomb = gzipSync(Buffer.alloc(16 << 20, " "));
  const sends = (header: string) =>
    Buffer.concat([
      Buffer.from(`POST ${path} HTTP/1.1\r\n${auth}${header}Content-Length: ${bomb.length}\r\n\r\n`),
      bomb,
    ]);
  for (const encoding of [
    "gzip",
    "GZIP",
    "br",
    "zstd",
    "deflate, gzip",
    "identity, gzip",
    "x-gzip",
    "unknown",
  ])
    assert.match(
      await raw(port, sends(`Content-Encoding: ${encoding}\r\n`)),
      /^HTTP\/1\.1 400 .*uncompressed/s,
    );
  const twice = "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n";
  assert.match(await raw(port, sends(twice)), /^HTTP\/1\.1 400 /);
  assert.match(
    await raw(port, sends("")),
    /^HTTP\/1\.1 400 .*malformed/s,
    "not decoded without a header either",
  );
  assert.equal(provider.seen.length, 0);
});

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const chunked = (chunks: string, more = "") =>
  `POST ${path} HTTP/1.1\r\n${auth}${more}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
const hidden = post("/openai/v1/chat/completions", "", JSON.stringify({ ...chat, model: "o-test-hidden" }));

test("lengths that lie or contradict each other pass no second request, and none that is half read", async (t) => {
  const { port, provider, failures, ask } = await gatewayLab(t, () => ({ text: "ok" }));
  const wrong: [title: string, request: string][] = [
    ["both kinds of length", chunked(`0\r\n\r\n${hidden}`, `Content-Length: ${hidden.length + 5}\r\n`)],
    ["two lengths", post(path, "Content-Length: 3\r\n")],
    ["a negative length", `POST ${path} HTTP/1.1\r\n${auth}Content-Length: -1\r\n\r\n${body}`],
    ["a chunk that is longer than it says", chunked(`3\r\n${body}\r\n0\r\n\r\n`)],
    ["a chunk without a length", chunked(`\r\n${body}\r\n0\r\n\r\n`)],
    ["a chunk with a length in words", chunked(`many\r\n${body}\r\n0\r\n\r\n`)],
    ["a coding under the chunks", `POST ${path} HTTP/1.1\r\n${auth}Transfer-Encoding: gzip\r\n\r\n${hidden}`],
  ];
  for (const [title, request] of wrong) {
    const said = await raw(port, request);
    assert.match(said, /^HTTP\/1\.1 4\d\d /, `${title}: ${said.slice(0, 100)}`);
  }
  const shorter = await raw(
    port,
    `POST ${path} HTTP/1.1\r\n${auth}Content-Length: ${body.length + 9}\r\n\r\n${body}`,
  );
  assert.equal(shorter, "", "a body that is not all there is not sent");
  assert.equal(provider.seen.length, 0);
  assert.equal((await ask("openai/v1/chat/completions", chat)).status, 200);
  assert.deepEqual(failures, []);
});

test("trailers and extensions of chunks are dropped, and Expect gets its answer", async (t) => {
  const { port, provider } = await gatewayLab(t, [{ text: "one" }, { text: "two" }]);
  const trailers = `${body.length.toString(16)};x=y\r\n${body}\r\n0\r\nAuthorization: Bearer x\r\nOpenAI-Beta: x\r\n\r\n`;
  assert.match(await raw(port, chunked(trailers)), /^HTTP\/1\.1 200 .*one/s);
  assert.match(
    await raw(port, post(path, "Expect: 100-continue\r\n")),
    /^HTTP\/1\.1 100 .*HTTP\/1\.1 200 .*two/s,
  );
  assert.match(await raw(port, post(path, "Expect: more\r\n")), /^HTTP\/1\.1 417 /);
  assert.match(await raw(port, chunked(chunk("{}") + chunk(""))), /^HTTP\/1\.1 400 /);
  assert.equal(provider.seen.length, 2);
  for (const { headers } of provider.seen) {
    assert.equal(headers.authorization, `Bearer ${realKey}`);
    assert.equal(headers["openai-beta"], undefined);
  }
});

/** A provider that answers with these bytes, written by `send`. */
async function rawProvider(t: TestContext, send: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => send(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const openai = {
    name: "openai",
    protocol: "openai" as const,
    baseUrl,
    key: realKey,
    ids: ["gpt-test"],
    free: false,
  };
  const meter = new AttemptMeter({ limits: { timeMs: 1e9 }, clock: testClock() });
  const lab = await gatewayLab(t, [], { meter, providers: () => [openai] });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const asks = async (stream: boolean) => {
    const asked = { ...chat, stream, max_tokens: 70 };
    const answer = await lab.ask("openai/v1/chat/completions", asked).catch(() => undefined);
    const text = await answer?.text().catch(() => "broken");
    while (lab.events.length === 0) await sleep(5);
    assert.deepEqual(lab.failures, []);
    const [event] = lab.events as (ModelCallEvent | ModelTryEvent)[];
    return { status: answer?.status, text, event: event!, spending: meter.spending() };
  };
  return { asks };
}

const answer = JSON.stringify({
  choices: [{ message: { content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 3 },
});
const head = (length: number, type = "application/json") =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;

test("an answer that is shorter than its length is broken, and counts its upper estimate", async (t) => {
  const { asks } = await rawProvider(t, (socket) => socket.end(`${head(answer.length + 100)}${answer}`));
  const { event, spending } = await asks(false);
  assert.deepEqual([event.event, (event as ModelTryEvent).cause], ["model-try", "cut-stream"]);
  assert.equal(spending.estimated.outputTokens, 70);
});

test("an answer that is longer than its length is none, and its rest answers no other call", async (t) => {
  let calls = 0;
  const { asks } = await rawProvider(t, (socket) => {
    socket.write(`${head(calls++ === 0 ? 20 : answer.length)}${answer}`);
  });
  const first = await asks(false);
  assert.deepEqual([first.status, first.event.event], [502, "model-try"]);
  const second = await asks(false);
  assert.deepEqual([second.status, second.text], [200, answer]);
});

test("an answer with equal headers of two lengths is none", async (t) => {
  const two = `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`;
  const { asks } = await rawProvider(t, (socket) => socket.end(two));
  const { status, event } = await asks(false);
  assert.deepEqual([status, event.event], [502, "model-try"]);
});

for (const [what, piece] of [
  ["spaces", Buffer.alloc(1 << 20, " ")],
  ["a line without an end", Buffer.alloc(1 << 20, "data: x")],
  ["comments", Buffer.from(`: ${"x".repeat(1 << 16)}\n\n`.repeat(16))],
] as const)
  test(`an endless answer of ${what} ends at its limit, and counts its upper estimate`, async (t) => {
    const { asks } = await rawProvider(t, (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
      const pour = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on("drain", pour);
      pour();
    });
    const { event, spending } = await asks(true);
    assert.equal(event.event, "model-try");
    assert.match((event as ModelTryEvent).detail, /more than \d+ bytes/);
    assert.equal(spending.estimated.outputTokens, 70);
  });

test("an event of megabytes in one line is passed on and counted", async (t) => {
  const long = "x".repeat(8 << 20);
  const event = JSON.stringify({ choices: [{ delta: { content: long }, finish_reason: "stop" }] });
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } });
  const stream = `data: ${event}\n\ndata: ${usage}\n\ndata: [DONE]\n\n`;
  const { asks } = await rawProvider(t, (socket) =>
    socket.end(`${head(stream.length, "text/event-stream")}${stream}`),
  );
  const { text, event: call } = await asks(true);
  assert.equal(text!.length, stream.length - `data: ${usage}\n\n`.length, "all but the event of usage alone");
  assert.equal((call as ModelCallEvent).usage?.outputTokens, 3);
});
