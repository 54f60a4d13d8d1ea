import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LoopbackHub } from "../../../../tests/support/servers/loopback-hub.ts";
import { DownloadCache, type WantedFile } from "./download-cache.ts";

const content = Buffer.alloc(300_000, "content of a file ");
const sha256 = createHash("sha256").update(content).digest("hex");

async function lab(t: TestContext, limits: Partial<ConstructorParameters<typeof DownloadCache>[1]> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "download-cache-"));
  const hub = await new LoopbackHub().start();
  t.after(() => {
    hub.close();
    rmSync(folder, { recursive: true, force: true });
  });
  hub.commit("model", "lab/m", { "a.safetensors": content });
  const cache = new DownloadCache(folder, { fileBytesMax: 1 << 20, freeBytesMin: 0, ...limits });
  const url = new URL(`${hub.endpoint}/lab/m/resolve/main/a.safetensors`);
  const get = (known: WantedFile["known"] = { sha256 }, bytes = content.length) =>
    cache.get({ url, known, bytes }, new AbortController().signal);
  const left = () => ["partial", "blobs"].map((name) => readdirSync(join(folder, name)).length);
  return { hub, get, left };
}

test("a connection that is cut goes on where it stopped, and equal requests share one download", async (t) => {
  const { hub, get, left } = await lab(t);
  hub.faults.push({ path: /^\/lfs\//, times: 1, as: "cut" });
  const [one, two] = await Promise.all([get(), get()]);
  assert.deepEqual(readFileSync(one.path), content);
  assert.equal(two.path, one.path);
  const ranges = hub.requests.filter(({ path }) => path.startsWith("/lfs/")).map(({ range }) => range);
  assert.equal(ranges.length, 2);
  assert.match(ranges[1] ?? "", /^bytes=[1-9]\d*-$/);
  assert.equal((await get()).cached, true);
  assert.deepEqual(left(), [0, 1]);
});

test("content with another digest or size than announced gets no name in the cache", async (t) => {
  const { get, left } = await lab(t);
  await assert.rejects(get({ sha256: "0".repeat(64) }), /does not have the digest/);
  await assert.rejects(get({ gitSha1: "0".repeat(40) }), /does not have the digest/);
  await assert.rejects(get({ sha256: "1".repeat(64) }, 1000), /larger than announced/);
  assert.deepEqual(left(), [0, 0]);
});

test("a file over the limit, or one that would fill the disk, is not downloaded", async (t) => {
  const large = await lab(t, { fileBytesMax: 1000 });
  await assert.rejects(large.get(), /more than the gateway serves/);
  const full = await lab(t, { freeBytesMin: 2 ** 60 });
  await assert.rejects(full.get(), /disk of the download cache is full/);
  assert.deepEqual([...large.left(), ...full.left()], [0, 0, 0, 0]);
});

test("a redirect to another server is not followed from a server without encryption", async (t) => {
  const { hub, get } = await lab(t);
  hub.faults.push({
    path: /^\/lab\/m\/resolve/,
    times: 1,
    as: { status: 302, headers: { location: "http://127.0.0.1:9/x" } },
  });
  await assert.rejects(get(), /redirects to an address that is not followed/);
});
