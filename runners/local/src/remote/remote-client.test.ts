import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { HttpTrouble, type TroubleKind } from "@mlrb/kit/http/http-trouble";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { RemoteClient, type RemoteLimits } from "./remote-client.ts";

const limits: RemoteLimits = {
  stallMs: 150,
  answerMs: 250,
  takeMs: 1000,
  patienceMs: 9000,
  tries: 3,
  pauseMs: 1,
};

async function lab(
  t: TestContext,
  { token, concurrency = 4 }: { token?: string; concurrency?: number } = {},
) {
  const server = await new LoopbackCache().start();
  const client = new RemoteClient({ url: server.url, token }, { concurrency, limits });
  const folder = mkdtempSync(join(tmpdir(), "mlrb-remote-"));
  t.after(() => {
    client.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const { signal } = new AbortController();
  const to = join(folder, "content");
  const put = (content: Buffer) => {
    const digest = hash("sha256", content);
    server.stored.set(`cas/${digest}`, content);
    return { digest, bytes: content.length };
  };
  return {
    server,
    client,
    folder,
    to,
    signal,
    put,
    download: (content: { digest: string; bytes: number }) => client.download({ ...content, to, signal }),
    ranges: () => server.requests.map(({ range }) => range),
  };
}

const fromByte = (range: string | undefined) => Number(/\d+/.exec(range ?? "")?.[0]);

const fails = (kind: TroubleKind) => (error: unknown) => {
  assert.ok(error instanceof HttpTrouble, String(error));
  assert.equal(error.kind, kind, error.message);
  return true;
};

test("a download whose connection breaks twice continues where it broke", async (t) => {
  const at = await lab(t);
  const content = randomBytes(400_000);
  const wanted = at.put(content);
  at.server.faults.push({ path: /cas/, as: "cut" }, { path: /cas/, as: "stall" });
  await at.download(wanted);
  assert.ok(readFileSync(at.to).equals(content));
  const [first, second, third] = at.ranges();
  assert.equal(first, undefined);
  assert.match(second!, /^bytes=[1-9]\d*-$/);
  assert.ok(fromByte(third) > fromByte(second), String(third));
});

test("a server that ignores the range sends the content again, and another range is not appended", async (t) => {
  const at = await lab(t);
  const content = randomBytes(300_000);
  const wanted = at.put(content);
  at.server.faults.push({ path: /cas/, as: "cut" }, { path: /cas/, as: "whole" });
  await at.download(wanted);
  assert.ok(readFileSync(at.to).equals(content));
  rmSync(at.to);
  at.server.faults.push({ path: /cas/, as: "cut" }, { path: /cas/, as: "elsewhere" });
  await at.download(wanted);
  assert.ok(readFileSync(at.to).equals(content));
});

test("other bytes of the same length and more bytes than stated are wrong, without another try", async (t) => {
  const at = await lab(t);
  const wanted = at.put(Buffer.from("the true bytes"));
  at.server.faults.push({ path: /cas/, as: { text: "the bad bytes!" } });
  await assert.rejects(at.download(wanted), fails("wrong-bytes"));
  rmSync(at.to);
  at.server.faults.push({ path: /cas/, as: "endless" });
  await assert.rejects(at.download(wanted), fails("wrong-bytes"));
  assert.ok(readFileSync(at.to).length <= wanted.bytes, "nothing beyond its size is written");
  assert.equal(at.server.requests.length, 2);
});

test("a download that brings nothing new ends after three tries", async (t) => {
  const at = await lab(t);
  const wanted = at.put(randomBytes(1000));
  at.server.faults.push({ path: /cas/, times: 9, as: 503 });
  await assert.rejects(at.download(wanted), fails("failing"));
  assert.equal(at.server.requests.length, 3);
});

test("a server may take longer to store what it has received than to send the next bytes", async (t) => {
  const server = createHttpServer((request, response) => {
    request.resume().once("end", () => setTimeout(() => response.writeHead(201).end(), 300));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const client = new RemoteClient({ url, token: undefined }, { concurrency: 1, limits });
  t.after(() => client.close());
  await client.put("cas/aa", { bytes: Buffer.alloc(1000), type: "x" }, new AbortController().signal);
});

test("a silent server, a stalled answer and one that drips end within their limits", async (t) => {
  const at = await lab(t);
  at.server.stored.set("ac/x", Buffer.alloc(10_000));
  const asked = () => at.client.text("ac/x", { bytesMax: 1 << 20, signal: at.signal });
  for (const as of ["silent", "stall", "drip"] as const) {
    at.server.faults.push({ path: /ac/, as });
    const begin = performance.now();
    await assert.rejects(asked(), fails("silent"));
    assert.ok(performance.now() - begin < 2000, as);
  }
});

test("an answer without end is cut at its limit", async (t) => {
  const at = await lab(t);
  at.server.stored.set("ac/x", Buffer.alloc(10_000));
  at.server.faults.push({ path: /ac/, as: "endless" });
  await assert.rejects(at.client.text("ac/x", { bytesMax: 50_000, signal: at.signal }), fails("wrong-bytes"));
});

test("errors of the server are retried, and refusals, redirects and a full disk are not", async (t) => {
  const at = await lab(t, { token: "s3cret" });
  at.server.stored.set("ac/x", Buffer.from("entry"));
  at.server.faults.push({ path: /ac/, as: 502 }, { path: /ac/, as: 429 });
  assert.equal(await at.client.text("ac/x", { bytesMax: 99, signal: at.signal }), "entry");
  assert.equal(at.server.requests.length, 3);
  for (const [status, kind] of [
    [401, "refused"],
    [403, "refused"],
    [405, "refused"],
    [302, "refused"],
    [307, "refused"],
    [413, "full"],
    [507, "full"],
  ] as const) {
    at.server.requests.length = 0;
    at.server.faults.push({ path: /cas/, as: status });
    const sent = at.client.put("cas/x", { bytes: Buffer.from("a"), type: "text/plain" }, at.signal);
    await assert.rejects(sent, fails(kind), String(status));
    assert.equal(at.server.requests.length, 1, String(status));
  }
  assert.ok(at.server.requests.every(({ authorization }) => authorization === "Bearer s3cret"));
  assert.ok(!at.server.requests.some(({ path }) => path === "elsewhere"), "no redirect is followed");
});

test("a file is sent with its length, and a PUT that fails starts again from the beginning", async (t) => {
  const at = await lab(t);
  const content = randomBytes(700_000);
  const file = join(at.folder, "large");
  writeFileSync(file, content);
  at.server.faults.push({ path: /cas/, method: "PUT", as: 500 });
  await at.client.put("cas/y", { file, size: content.length }, at.signal);
  assert.ok(at.server.stored.get("cas/y")!.equals(content));
  assert.equal(await at.client.sizeOf("cas/y", at.signal), content.length);
  assert.equal(await at.client.sizeOf("cas/none", at.signal), undefined);
});

test("a file that is gone is an error of this machine, and ends nothing else", async (t) => {
  const at = await lab(t);
  const sent = at.client.put("cas/y", { file: join(at.folder, "gone"), size: 5 }, at.signal);
  await assert.rejects(sent, { code: "ENOENT" });
  await at.client.put("cas/z", { bytes: Buffer.alloc(200_000), type: "text/plain" }, at.signal);
  assert.equal(at.server.stored.get("cas/z")!.length, 200_000);
});

test("a port without a server is tried once", async (t) => {
  const at = await lab(t);
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, "127.0.0.1", done));
  const { port } = closed.address() as { port: number };
  await new Promise((done) => closed.close(done));
  const client = new RemoteClient(
    { url: new URL(`http://127.0.0.1:${port}`), token: undefined },
    { concurrency: 1, limits },
  );
  t.after(() => client.close());
  await assert.rejects(client.text("ac/x", { bytesMax: 9, signal: at.signal }), fails("unreachable"));
});

test("no more requests are open than the direction allows, and waiting in its queue is no silence", async (t) => {
  const at = await lab(t, { concurrency: 2 });
  const contents = Array.from({ length: 12 }, () => at.put(randomBytes(2000)));
  at.server.faults.push({ path: /cas/, times: 12, as: "cut" });
  await Promise.all(
    contents.map(({ digest, bytes }) =>
      at.client.download({ digest, bytes, to: join(at.folder, digest), signal: at.signal }),
    ),
  );
  assert.ok(at.server.openMax <= 2, String(at.server.openMax));
});

test("an answer that changes the protocol, or none at all, fails in time", async (t) => {
  for (const text of [
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "",
  ]) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => (text === "" ? socket.end() : socket.write(text)));
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = new RemoteClient(
      { url: new URL(`http://127.0.0.1:${port}/c`), token: undefined },
      { concurrency: 1, limits: { ...limits, tries: 1 } },
    );
    t.after(() => client.close());
    const { signal } = new AbortController();
    await assert.rejects(client.text("ac/x", { bytesMax: 99, signal }), fails("failing"));
  }
});

test("an address with two slashes keeps its host", async (t) => {
  const { server, signal } = await lab(t);
  const url = new URL(server.url);
  url.pathname = "//mlrb/";
  const client = new RemoteClient({ url, token: "secret" }, { concurrency: 1, limits });
  t.after(() => client.close());
  assert.equal(await client.text("ac/x", { bytesMax: 99, signal }), undefined);
  assert.equal(server.requests.at(-1)!.authorization, "Bearer secret");
});
