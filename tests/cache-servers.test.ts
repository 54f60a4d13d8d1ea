// Requests of the remote cache, as real servers answer them.
import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HttpTrouble } from "@mlrb/kit/http/http-trouble";
import { RemoteClient, remoteLimits } from "@mlrb/local/remote/remote-client";
import { CacheServer, cacheToken, lighttpd, nginx } from "./support/servers/cache-server.ts";

for (const software of [nginx, lighttpd])
  test(`${software.program} stores a content, gives its size, and continues a broken download where it broke`, {
    skip: software.missing,
  }, async (t) => {
    const server = await new CacheServer(software).start();
    const url = new URL(server.address);
    const client = new RemoteClient({ url, token: cacheToken }, { concurrency: 2, limits: remoteLimits });
    const folder = mkdtempSync(join(tmpdir(), "mlrb-servers-"));
    t.after(async () => {
      client.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    });
    const { signal } = new AbortController();
    const content = randomBytes(3 << 20);
    const digest = hash("sha256", content);
    const path = `cas/${digest}`;
    assert.equal(await client.sizeOf(path, signal), undefined);
    assert.equal(await client.text(`ac/${digest}`, { bytesMax: 9, signal }), undefined);
    await client.put(path, { bytes: content, type: "application/octet-stream" }, signal);
    assert.equal(await client.sizeOf(path, signal), content.length);
    server.breakAfter = 1 << 20;
    const to = join(folder, "content");
    await client.download({ digest, bytes: content.length, to, signal });
    assert.ok(readFileSync(to).equals(content));
    assert.equal(server.breakAfter, Number.POSITIVE_INFINITY, "the connection broke");
    assert.match(server.requests, /^range: bytes=[1-9]/im);
    const stranger = new RemoteClient({ url, token: undefined }, { concurrency: 1, limits: remoteLimits });
    const sent = stranger.put(path, { bytes: Buffer.from("x"), type: "text/plain" }, signal);
    await assert.rejects(sent, (error) => error instanceof HttpTrouble && error.kind === "refused");
    stranger.close();
    assert.equal(await client.sizeOf(path, signal), content.length);
  });
