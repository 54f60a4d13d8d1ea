import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { mountSmallDisk } from "../../../../tests/support/machines/small-disk.ts";
import { LoopbackServer } from "../../../../tests/support/servers/loopback-server.ts";
import { Store } from "../store/artifact-store.ts";
import { VerifiedContents } from "../store/verified-contents.ts";
import { loadContents } from "./load-contents.ts";
import { RemoteClient, remoteLimits } from "./remote-client.ts";

const content = randomBytes(18 << 20);
const digest = hash("sha256", content);

/** A store on a small disk, and a server that calls `halfway` after it has sent half of the content. */
async function scene(t: TestContext, halfway: (root: string) => void) {
  const { root, trouble } = mountSmallDisk(t, "24m");
  const server = await new LoopbackServer((_, response) => {
    response.on("error", () => {});
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, content.length - 65_536), () => {
      setTimeout(() => {
        halfway(root);
        response.end(content.subarray(content.length - 65_536));
      }, 300);
    });
  }).start();
  const address = { url: new URL(server.endpoint), token: undefined };
  const client = new RemoteClient(address, { concurrency: 2, limits: { ...remoteLimits, tries: 1 } });
  t.after(() => {
    client.close();
    server.close();
  });
  mkdirSync(join(root, "blobs"));
  mkdirSync(join(root, "memory"));
  const store = new Store(join(root, "blobs"));
  const verified = new VerifiedContents(join(root, "memory"));
  const promised = { bytes: 0 };
  const load = (contents = { [digest]: content.length }) =>
    loadContents(contents, {
      ...{ store, verified, client, promised, atOnce: 2 },
      signal: new AbortController().signal,
    });
  return { store, promised, load, trouble };
}

test("a disk that another program fills during a download leaves nothing in the store", async (t) => {
  const { store, promised, load, trouble } = await scene(t, (root) => {
    const { bavail, bsize } = statfsSync(root);
    writeFileSync(join(root, "other"), Buffer.alloc(Math.max(0, bavail * bsize - 8192)));
  });
  if (trouble !== undefined) return t.skip(trouble);
  await assert.rejects(load(), { code: "ENOSPC" });
  assert.ok(!store.has(digest));
  assert.equal(promised.bytes, 0);
});

test("results that are loaded at once have room together, or the second is not begun", async (t) => {
  const { store, load, trouble } = await scene(t, () => {});
  if (trouble !== undefined) return t.skip(trouble);
  const first = load();
  await assert.rejects(load({ ["a".repeat(64)]: 8 << 20 }), /more than the disk has room for/);
  assert.equal(await first, content.length);
  assert.ok(store.has(digest));
});

test("a result whose only missing content is empty is loaded without a request", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "load-"));
  t.after(() => rmSync(root, { recursive: true }));
  const store = new Store(root);
  const client = new RemoteClient(
    { url: new URL("http://127.0.0.1:1"), token: undefined },
    { concurrency: 1, limits: { ...remoteLimits, tries: 1 } },
  );
  t.after(() => client.close());
  const empty = hash("sha256", "");
  const verified = new VerifiedContents(join(root, "memory"));
  const loaded = await loadContents(
    { [empty]: 0 },
    {
      ...{ store, verified, client, promised: { bytes: 0 }, atOnce: 1 },
      signal: new AbortController().signal,
      loading: () => assert.fail("there are no bytes to load"),
    },
  );
  assert.deepEqual([loaded, store.canGive({ kind: "file", digest: empty })], [0, true]);
});
