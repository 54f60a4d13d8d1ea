// The relay of model calls over a channel as Slurm has it: only the configured addresses are reached, secrets stay
// on one side, answers pass as they come, and a call without a channel fails as one whose provider is away.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { placeholderOf, relayErrorHeader } from "@mlrb/core/ports/relay";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { hostEnd } from "./channel-ends.ts";
import { type RelayOptions, RelayServer, routeOf } from "./relay-server.ts";

const secret = "sk-of-the-submitting-host";
const attempt = "attempt-1";
const asKey = `Bearer ${placeholderOf(attempt, "KEY")}`;

test("an address is reached only below a route, by whole parts of its path and without disguise", () => {
  const routes = [
    { address: "https://one.example/v1", secret: "KEY" },
    { address: "https://one.example/v1/other/", secret: "OTHER" },
  ];
  const of = (url: string) => routeOf(new URL(url), routes)?.secret;
  assert.equal(of("https://one.example/v1/chat?x=1"), "KEY");
  assert.equal(of("https://one.example/v1/other/chat"), "OTHER");
  for (const url of [
    ...["https://one.example/v10/chat", "https://one.example/v1/../v2", "http://one.example/v1/chat"],
    ...["https://one.example:8443/v1/chat", "https://two.example/v1/chat", "https://a:b@one.example/v1/chat"],
    ...[
      "https://one.example/v1/%2e%2e/v2",
      "https://one.example/v1/..%2fv2",
      "https://one.example/v1%5c..%5cv2",
    ],
  ])
    assert.equal(of(url), undefined, url);
});

type Options = Partial<RelayOptions> & {
  /** In place of the provider's usual answer. */
  answers?: (answer: ServerResponse, call: { key: string; held: Promise<void> }) => void;
  answerMs?: number;
  /** What a site's programs print to the step's output before the relay's program. */
  printed?: string;
};

/** A provider, a relay to it, and the socket of the relay's program. */
async function relayed(t: TestContext, { answers, answerMs, printed, ...options }: Options = {}) {
  const seen: { url: string; key: string | undefined }[] = [];
  const gate = Promise.withResolvers<void>();
  const provider = createServer(async (asked, answer) => {
    const { authorization: key } = asked.headers;
    seen.push({ url: asked.url!, key });
    asked.resume();
    if (answers) return answers(answer, { key: String(key), held: gate.promise });
    answer.writeHead(200, { "content-type": "text/event-stream", "x-said": String(key) });
    answer.write(`data: first, for ${key}\n\n`);
    if (asked.url === "/v1/held") await gate.promise;
    if (asked.url === "/v1/cut") {
      setTimeout(() => answer.destroy(), 100);
      return;
    }
    answer.end("data: last\n\n");
  }).listen(0, "127.0.0.1");
  const folder = mkdtempSync(join(tmpdir(), "mlrb-relay-"));
  const socket = join(folder, "sock");
  const program = [join(import.meta.dirname, "relay-node.ts"), socket];
  const child = spawn(process.execPath, answerMs ? [...program, String(answerMs)] : program, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const output = new PassThrough();
  output.write(printed ?? "");
  child.stdout.pipe(output);
  await new Promise((listening) => provider.once("listening", listening));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const routes = ["KEY", "OTHER"].map((secret) => ({ address: `${url}/v1`, secret }));
  const relay = new RelayServer({ attempt, routes, secrets: { KEY: secret }, ...options });
  const served = relay.serve(hostEnd(output, child.stdin));
  t.after(async () => {
    gate.resolve();
    child.kill("SIGKILL");
    provider.close();
    provider.closeAllConnections();
    await served;
    removeFolder(folder);
  });
  while (!existsSync(socket)) await sleep(10);
  const call = (path: string, body = "{}", authorization = asKey) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization };
      httpRequest({ socketPath: socket, path: url + path, method: "POST", headers }, resolve)
        .on("error", reject)
        .end(body);
    });
  /** The host's side gets nothing any more. */
  const freeze = () => child.stdout.unpipe(output).resume();
  return { seen, call, child, socket, served, relay, provider, url, freeze, letGo: () => gate.resolve() };
}

test("a call gets the key on the way out, and what quotes the key comes back without it", async (t) => {
  const { seen, call, relay } = await relayed(t);
  const answer = await call("/v1/chat");
  assert.deepEqual(seen, [{ url: "/v1/chat", key: `Bearer ${secret}` }]);
  assert.equal(answer.headers["x-said"], "Bearer [redacted KEY]");
  assert.equal(await text(answer), "data: first, for Bearer [redacted KEY]\n\ndata: last\n\n");
  relay.take({ KEY: "sk-of-the-next-month" });
  await text(await call("/v1/chat"));
  assert.equal(seen.at(-1)!.key, "Bearer sk-of-the-next-month");
});

test("the begin of an answer passes before its end, and a cut answer is not whole", async (t) => {
  const { call, letGo } = await relayed(t);
  const answer = await call("/v1/held");
  const [first] = await Promise.race([answer.take(1).toArray(), sleep(5_000, [], { ref: false })]);
  assert.equal(String(first), "data: first, for Bearer [redacted KEY]\n\n");
  letGo();
  await assert.rejects(async () => await text(await call("/v1/cut")), { code: "ECONNRESET" });
});

const trouble = ({ headers }: IncomingMessage): [unknown, string] => [
  headers[relayErrorHeader],
  decodeURIComponent(String(headers[`${relayErrorHeader}-detail`])),
];

test("an answer that Node does not take to pass on is a failed call, and the next one is served", async (t) => {
  const lines = ["HTTP/1.1 099 Odd", "HTTP/1.1 200 OK"];
  const { call } = await relayed(t, {
    answers: ({ socket }) => void socket!.end(`${lines.shift()}\r\nContent-Length: 2\r\n\r\nok`),
  });
  const [code, words] = trouble(await call("/v1/chat"));
  assert.equal(code, "MLRB_NO_STREAM");
  assert.match(words, /^the provider's answer cannot be passed on: Invalid status code: 99/);
  assert.equal(await text(await call("/v1/chat")), "ok");
});

test("a secret loses the line break at its end, and one with a line break inside is a wrong key", async (t) => {
  const { seen, call, relay } = await relayed(t, { secrets: { KEY: `${secret}\r\n` } });
  await text(await call("/v1/chat"));
  assert.equal(seen[0]!.key, `Bearer ${secret}`);
  relay.take({ KEY: "sk-of-two\nlines-1" });
  const [code, words] = trouble(await call("/v1/chat"));
  assert.equal(code, "invalid_api_key");
  assert.match(words, /^the value of KEY has a character that no header may have/);
  relay.take({ KEY: secret });
  assert.equal((await call("/v1/chat")).statusCode, 200);
  assert.equal(seen.length, 2);
});

test("of two secrets for one address, a call gets the one that its placeholder names", async (t) => {
  const { seen, call } = await relayed(t, { secrets: { KEY: secret, OTHER: "sk-of-the-planner" } });
  await text(await call("/v1/chat", "{}", `Bearer ${placeholderOf(attempt, "OTHER")}`));
  await text(await call("/v1/chat"));
  assert.deepEqual(
    seen.map(({ key }) => key),
    ["Bearer sk-of-the-planner", `Bearer ${secret}`],
  );
});

test("an answer to a call with a former key comes without it", async (t) => {
  const { call, relay, letGo, seen } = await relayed(t, {
    async answers(answer, { key, held }) {
      await held;
      answer.writeHead(401, { "x-said": key }).end(`Incorrect API key: ${key}`);
    },
  });
  const asked = call("/v1/chat");
  while (seen.length === 0) await sleep(5);
  relay.take({ KEY: "sk-of-the-next-month" });
  letGo();
  const answer = await asked;
  assert.equal(answer.headers["x-said"], "Bearer [redacted KEY]");
  assert.equal(await text(answer), "Incorrect API key: Bearer [redacted KEY]");
});

test("an answer that is compressed all the same comes plain, without the key, and part by part", async (t) => {
  const said = `data: for ${secret}\n\n`;
  const ways: [string, (text: string) => Buffer][] = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ];
  const { call, letGo } = await relayed(t, {
    async answers(answer, { held }) {
      const [encoding, compress] = ways.shift() ?? [];
      answer.writeHead(200, { "content-encoding": encoding ?? "gzip" });
      if (compress) return answer.end(compress(said));
      const zip = createGzip();
      zip.pipe(answer);
      zip.write(said);
      zip.flush();
      await held;
      zip.end("data: last\n\n");
    },
  });
  const clean = "data: for [redacted KEY]\n\n";
  for (const [encoding] of [...ways]) {
    const answer = await call("/v1/chat");
    assert.equal(answer.headers["content-encoding"], undefined);
    assert.equal(await text(answer), clean, encoding);
  }
  const answer = await call("/v1/chat");
  const [first] = await Promise.race([answer.take(1).toArray(), sleep(5_000, [], { ref: false })]);
  assert.equal(String(first), clean);
  letGo();
});

test("an unknown encoding, one that is not as it says, and too many bytes are no answers", async (t) => {
  const ways: [string, Buffer | string][] = [
    ["aes128gcm", "xx"],
    ["gzip", "xx"],
    ["gzip", gzipSync("a".repeat(100_000))],
  ];
  const { call } = await relayed(t, {
    plainBytesMax: 50_000,
    answers(answer) {
      const [encoding, body] = ways.shift()!;
      answer.writeHead(200, { "content-encoding": encoding }).end(body);
    },
  });
  for (const what of [/its encoding is aes128gcm/, /incorrect header check/]) {
    const [code, words] = trouble(await call("/v1/chat"));
    assert.equal(code, "MLRB_NO_STREAM");
    assert.match(words, what);
  }
  await assert.rejects(async () => await text(await call("/v1/chat")), { code: "ECONNRESET" });
});

test("an answer without a body keeps its status, whatever encoding it names", async (t) => {
  const ways: [Record<string, string>, string][] = [
    [{ "content-encoding": "gzip", "content-length": "0" }, ""],
    [{ "content-encoding": "gzip" }, ""],
    [{ "content-encoding": "gzip" }, "slow down"],
    [{ "content-encoding": "aes128gcm" }, "xx"],
  ];
  const { call } = await relayed(t, {
    answers(answer) {
      const [headers, body] = ways.shift()!;
      answer.writeHead(429, headers).end(body);
    },
  });
  for (const _ of [...ways]) {
    const answer = await call("/v1/chat");
    assert.deepEqual([answer.statusCode, await text(answer)], [429, ""]);
  }
});

test("a provider that changes to another protocol gives no answer", async (t) => {
  const { call } = await relayed(t, {
    answers(answer) {
      answer.socket!.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    },
  });
  const [code, words] = trouble(await call("/v1/chat"));
  assert.equal(code, "MLRB_NO_STREAM");
  assert.match(words, /its status is 101/);
});

test("lines that a site's programs print before the relay's are no bytes of the channel", async (t) => {
  const { call } = await relayed(t, { printed: "Welcome to node n1\nTWxyYg==\nloading modules ... " });
  assert.equal((await call("/v1/chat")).statusCode, 200);
});

test("a host that does not answer any more ends the node's program, which then refuses calls at once", async (t) => {
  const { call, child, freeze } = await relayed(t, { answerMs: 100 });
  assert.equal((await call("/v1/chat")).statusCode, 200);
  freeze();
  await new Promise((ended) => child.once("exit", ended));
  await assert.rejects(call("/v1/chat"), { code: "ECONNREFUSED" });
});

test("the node's program takes no call before the host has answered", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-relay-"));
  t.after(() => removeFolder(folder));
  const child = spawn(process.execPath, [
    ...[join(import.meta.dirname, "relay-node.ts"), join(folder, "sock"), "100"],
  ]);
  child.stdout.resume();
  await new Promise((ended) => child.once("exit", ended));
  assert.ok(!existsSync(join(folder, "sock")));
});

test("other addresses and long requests are refused, and reach nothing", async (t) => {
  const { seen, call } = await relayed(t, { requestBytesMax: 1000 });
  assert.equal((await call("/v2/chat")).statusCode, 403);
  assert.deepEqual(seen, []);
  assert.equal((await call("/v1/chat", "x".repeat(100_000))).statusCode, 413);
});

test("an address that cannot be read is no provider that is away", async (t) => {
  const trouble = new Error("the list of addresses follows no format");
  const { call } = await relayed(t, {
    locate() {
      throw trouble;
    },
  });
  assert.equal((await call("/v1/chat")).headers[relayErrorHeader], "EINVAL");
  Object.assign(trouble, { code: "ECONNREFUSED" });
  assert.equal((await call("/v1/chat")).headers[relayErrorHeader], "ECONNREFUSED");
});

test("a provider that is away is reported by the code of its error, and a dead channel ends the session", async (t) => {
  const { call, child, provider, served } = await relayed(t);
  provider.close();
  provider.closeAllConnections();
  const answer = await call("/v1/chat");
  assert.equal(answer.headers[relayErrorHeader], "ECONNREFUSED");
  child.kill("SIGKILL");
  await served;
  await assert.rejects(call("/v1/chat"), { code: "ECONNREFUSED" });
});

test("the node's program listens in no folder that others may enter", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-relay-"));
  t.after(() => removeFolder(folder));
  chmodSync(folder, 0o755);
  const child = spawn(process.execPath, [join(import.meta.dirname, "relay-node.ts"), join(folder, "sock")]);
  assert.match(await text(child.stderr), /must be a folder that only this user may enter/);
  assert.ok(!existsSync(join(folder, "sock")));
});
