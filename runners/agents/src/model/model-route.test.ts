// Model calls on a node: whole addresses at the relay's socket, and its troubles by the causes of a provider's.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { relayErrorHeader, relayVariable } from "@mlrb/core/ports/relay";
import { relayedAddress, writeServiceAddresses } from "@mlrb/kit/attempts/service-addresses";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { causeOf } from "./cause-of.ts";
import { calledAddress, modelFetch, modelRequest } from "./model-route.ts";

/** The path of a relay that answers by `listener`; without one there is no relay. */
async function relayAt(t: TestContext, listener?: RequestListener): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-route-"));
  t.after(() => removeFolder(folder));
  const path = join(folder, "sock");
  if (listener) {
    const server = createServer(listener);
    await new Promise<void>((listening) => server.listen(path, listening));
    t.after(() => server.close());
  }
  return path;
}

const address = "https://api.example/v1/chat?x=1";

test("a call goes to the relay with its whole address, and its answer comes back as fetch has it", async (t) => {
  const seen: unknown[] = [];
  const path = await relayAt(t, async (asked, answer) => {
    const { host, "x-api-key": key, "accept-encoding": encoding } = asked.headers;
    seen.push({ url: asked.url, method: asked.method, host, key, encoding, body: await text(asked) });
    answer.writeHead(429, { "retry-after": "7" }).end("slow down");
  });
  process.env[relayVariable] = path;
  t.after(() => delete process.env[relayVariable]);
  const init = { method: "POST", headers: { "x-api-key": "placeholder" }, body: '{"a":1}' };
  const fetched = await modelFetch(address, init);
  assert.deepEqual(
    [fetched.status, fetched.headers.get("retry-after"), await fetched.text()],
    [429, "7", "slow down"],
  );
  const { statusCode } = await modelRequest(new URL(address), init);
  assert.equal(statusCode, 429);
  const call = { url: address, method: "POST", host: "api.example", key: "placeholder" };
  assert.deepEqual(seen, Array(2).fill({ ...call, encoding: "identity", body: '{"a":1}' }));
});

test("a failure of the relay counts by its code, and a relay that is away counts as unreachable", async (t) => {
  const causeBy = async (path: string) => {
    const asked = modelRequest(new URL(address), { method: "POST", headers: {} }, path);
    const { cause, detail } = causeOf(await asked.catch((error: unknown) => error));
    return `${cause}: ${detail}`;
  };
  const failing = async (code: string, words: string) => {
    const headers = {
      [relayErrorHeader]: code,
      [`${relayErrorHeader}-detail`]: encodeURIComponent(words),
    };
    return await causeBy(await relayAt(t, (_, answer) => void answer.writeHead(502, headers).end()));
  };
  const words = "getaddrinfo ENOTFOUND api.example";
  assert.equal(await failing("ENOTFOUND", words), `unreachable: ${words}`);
  assert.match(await failing("invalid_api_key", "the value of KEY has a character"), /^wrong-key: /);
  assert.match(await failing("MLRB_NO_STREAM", "its encoding is aes128gcm"), /^no-stream: /);
  assert.match(
    await causeBy(await relayAt(t)),
    /^unreachable: the relay on the host that submitted this job is away/,
  );
});

test("a service that has no address waits for one, and a list of addresses that cannot be read does not", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-route-"));
  t.after(() => removeFolder(folder));
  process.env.MLRB_WORK = folder;
  t.after(() => delete process.env.MLRB_WORK);
  const url = relayedAddress("{services.model.url}/v1");
  const causes = async () => {
    const calls = [modelFetch(url), modelRequest(new URL(url), { method: "POST", headers: {} })];
    return (await Promise.all(calls.map((call) => call.catch(causeOf)))) as ReturnType<typeof causeOf>[];
  };
  for (const { cause, detail } of await causes()) {
    assert.equal(cause, "unreachable");
    assert.match(detail, /"model" has no address here/);
  }
  writeServiceAddresses(folder, {});
  const file = join(folder, "services.json");
  writeFileSync(file, '{"formatVersion":1,"urls":7}');
  for (const { cause, detail } of await causes()) {
    assert.notEqual(cause, "unreachable");
    assert.match(detail, /services\.json/);
  }
});

test("a call to a service's port that another user's program took is not sent, and counts as unreachable", {
  skip: process.platform !== "linux" || process.getuid!() !== 0,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-route-"));
  t.after(() => removeFolder(folder));
  process.env.MLRB_WORK = folder;
  t.after(() => delete process.env.MLRB_WORK);
  assert.throws(() => calledAddress("{services.model.url}/v1"), /"model" has no address here/);
  const seen: string[] = [];
  const listen = async () => {
    const server = createServer((asked, answer) => {
      seen.push(`${asked.headers.host}${asked.url}`);
      answer.end("own");
    }).listen(0, "127.0.0.1");
    await new Promise((listening) => server.once("listening", listening));
    t.after(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const publish = (port: number) => writeServiceAddresses(folder, { model: `http://127.0.0.1:${port}` });
  process.seteuid!(65_534); // the kernel notes it at the socket
  publish(await listen().finally(() => process.seteuid!(0)));
  const url = `${calledAddress("{services.model.url}/v1")}/chat`;
  const init = { method: "POST", headers: { authorization: "Bearer secret" }, body: "{}" };
  for (const call of [() => modelFetch(url, init), () => modelRequest(new URL(url), init)]) {
    const { cause, detail } = causeOf(await call().catch((error: unknown) => error));
    assert.equal(cause, "unreachable");
    assert.match(detail, /the service "model" is away: no program of this user listens at 127/);
  }
  assert.deepEqual(seen, []);
  const port = await listen();
  publish(port);
  assert.equal(await (await modelFetch(url, init)).text(), "own");
  assert.equal(await text(await modelRequest(new URL(url), init)), "own");
  assert.deepEqual(seen, Array(2).fill(`127.0.0.1:${port}/v1/chat`));
});
