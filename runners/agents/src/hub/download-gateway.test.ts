import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type ClientRequest, createServer, get, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DownloadAdmission } from "./admit-download.ts";
import { DownloadCache } from "./download-cache.ts";
import { type DownloadEvent, DownloadGateway } from "./download-gateway.ts";

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

/** A gateway before a server whose answers the test releases. */
async function lab(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "download-gateway-"));
  const held: ServerResponse[] = [];
  let isOpen = false;
  let arrived = Promise.withResolvers<void>();
  const upstream = createServer((_, response) => {
    held.push(response);
    arrived.resolve();
    if (isOpen) answerHeld();
  });
  const answerHeld = (text = "[]") => {
    for (const response of held.splice(0))
      response.writeHead(200, { "content-type": "application/json" }).end(text);
  };
  const hub = `http://127.0.0.1:${await listening(upstream)}`;
  const withheld = join(folder, "withheld.json");
  writeFileSync(
    withheld,
    JSON.stringify({ formatVersion: 1, sources: [], digests: [], texts: [], rows: [] }),
  );
  const events: DownloadEvent[] = [];
  const gateway = new DownloadGateway({
    servers: { hub, packages: hub, code: hub },
    codeAllowed: [],
    cache: new DownloadCache(join(folder, "cache"), { fileBytesMax: 1 << 20, freeBytesMin: 0 }),
    admission: new DownloadAdmission(withheld),
    bytesMax: 1 << 20,
    write: (event) => events.push(event),
    failed: (error) => assert.fail(String(error)),
  });
  let count = 0;
  const { promise: everyAsked, resolve } = Promise.withResolvers<void>();
  let expected = Number.POSITIVE_INFINITY;
  gateway.server.on("request", () => ++count >= expected && resolve());
  const port = await listening(gateway.server);
  const agent = new Agent({ maxSockets: 200 });
  t.after(async () => {
    agent.destroy();
    await gateway.close();
    upstream.close();
    upstream.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  const ask = (): { request: ClientRequest; status: Promise<number | undefined> } => {
    const { promise: status, resolve } = Promise.withResolvers<number | undefined>();
    const request = get({ host: "127.0.0.1", port, path: "/api/models?search=x", agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    }).on("error", () => resolve(undefined));
    return { request, status };
  };
  return {
    ...{ gateway, events, ask, held },
    /** Resolves when the gateway has got `total` requests. */
    async allAsked(total: number) {
      expected = total;
      if (count < total) await everyAsked;
    },
    /** Resolves when the server holds `count` requests. */
    async holds(count: number) {
      while (held.length < count) {
        await arrived.promise;
        arrived = Promise.withResolvers<void>();
      }
    },
    answerHeld,
    /** Those held now and those that come. */
    answerAll() {
      isOpen = true;
      answerHeld();
    },
  };
}

test("a hundred requests at once are all answered, sixteen at a time", async (t) => {
  const { ask, allAsked, held, holds, answerHeld } = await lab(t);
  const asked = Array.from({ length: 100 }, ask);
  await allAsked(100);
  for (let left = 100; left > 0; left -= 16) {
    await holds(Math.min(16, left));
    assert.equal(held.length, Math.min(16, left));
    answerHeld();
  }
  const statuses = await Promise.all(asked.map(({ status }) => status));
  assert.deepEqual(new Set(statuses), new Set([200]));
});

test("requests of programs that went away leave the queue, and a later request is answered", async (t) => {
  const { ask, allAsked, holds, answerAll } = await lab(t);
  const asked = Array.from({ length: 60 }, ask);
  await allAsked(60);
  await holds(16);
  for (const { request } of asked) request.destroy();
  await Promise.all(asked.map(({ status }) => status));
  const later = ask();
  answerAll();
  assert.equal(await later.status, 200);
});

test("the gateway closes while its server is silent and requests wait, and records nothing of it", async (t) => {
  const { gateway, events, ask, allAsked, holds } = await lab(t);
  const asked = Array.from({ length: 60 }, ask);
  await allAsked(60);
  await holds(16);
  await gateway.close();
  const statuses = await Promise.all(asked.map(({ status }) => status));
  assert.deepEqual(new Set(statuses), new Set([undefined]));
  assert.deepEqual(events, []);
});

test("no program reads the text of a library or of the server on an answer that is no JSON", async (t) => {
  const { events, holds, answerHeld, gateway } = await lab(t);
  const { port } = gateway.server.address() as AddressInfo;
  const answer = fetch(`http://127.0.0.1:${port}/lab/m/resolve/main/config.json`);
  await holds(1);
  answerHeld("of this host: /secret/place");
  assert.equal(await (await answer).text(), "the answer cannot be read\n");
  assert.doesNotMatch(JSON.stringify(events), /secret/);
});
