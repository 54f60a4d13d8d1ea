import assert from "node:assert/strict";
import { createHmac, hash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { checkpointParcelFile, travelsFile } from "@mlrb/kit/attempts/checkpoint-parcel";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { branchAt, makeBranch } from "@mlrb/local/attempts/branch-attempt";
import { branchPoints } from "@mlrb/local/attempts/branch-points";
import { CheckpointSender } from "@mlrb/local/parcels/checkpoint-sender";
import { ParcelPost } from "@mlrb/local/parcels/parcel-post";
import { RemoteClient, remoteLimits } from "@mlrb/local/remote/remote-client";
import { stateSecret } from "@mlrb/local/stage/secret-seed";
import { exampleCard } from "@mlrb/local/testing/example-record";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { fetchedCheckpoints } from "./fetched-checkpoints.ts";

function write(folder: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

test("an attempt on a node without a shared disk is branched at either checkpoint in the cache, of which one is fetched whole", async (t) => {
  const above = mkdtempSync(join(tmpdir(), "mlrb-fetched-"));
  const cache = await new LoopbackCache().start();
  const client = new RemoteClient(
    { url: cache.url, token: undefined },
    { concurrency: 2, limits: remoteLimits },
  );
  t.after(() => {
    delete process.env.MLRB_REMOTE_CACHE;
    client.close();
    cache.close();
    removeFolder(above);
  });
  const state = join(above, ".mlrb");
  const running = join(state, "attempts/running");
  mkdirSync(join(state, "leases"), { recursive: true });
  const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
  const slot = { ...exampleCard.slot, stage: "attempt[task=words,seed=1]" };
  const card = { ...exampleCard, slot, gives };
  const { name, path } = makeAttemptFolder(running, card);
  const parent = { name, path, card };
  assert.deepEqual(((await fetchedCheckpoints(parent)) as { folders: string[] }).folders, []);

  write(path, { [`jobs/1/${travelsFile}`]: "{}" });
  assert.match(String(await fetchedCheckpoints(parent)), /no checkpoint has reached the remote cache/);

  let previous = "0".repeat(64);
  let lines = "";
  for (const event of [{ event: "start" }, { event: "model-call" }, { event: "model-call" }]) {
    const line = JSON.stringify({ formatVersion: 1, previous, sinceStartMs: 1000, ...event });
    previous = hash("sha256", line);
    lines += `${line}\n`;
  }
  write(path, { "out/trajectory.jsonl": lines });

  const node = join(above, "node");
  const key = createHmac("sha256", stateSecret(state)).update("parcels").digest();
  const { signal } = new AbortController();
  const clients = { parcels: client, news: client };
  const post = new ParcelPost({ clients, key, signal, scratch: join(above, "scratch") });
  const place = { post, folder: node, trajectory: join(node, "trajectory"), snapshots: "out/snapshots" };
  const sender = new CheckpointSender(place);
  const large = [randomBytes(1 << 20), randomBytes(1 << 20)] as const;
  write(node, { trajectory: "", "out/snapshots/x": "" });
  for (const [at, bytes] of large.entries()) {
    const entry = { path: "workspace/model", kind: "file", mode: 0o644, content: String(at + 1), bytes: 1 };
    const checkpoint = { formatVersion: 1, after: at + 2, workingMs: 900, entries: [entry] };
    write(node, {
      [`checkpoints/contents/${at + 1}`]: bytes,
      [`checkpoints/000${at + 1}.json`]: JSON.stringify(checkpoint),
    });
    await sender.send(signal);
  }
  write(path, { [checkpointParcelFile]: readFileSync(join(node, checkpointParcelFile)) });
  assert.match(String(await fetchedCheckpoints(parent)), /help: set MLRB_REMOTE_CACHE/);

  process.env.MLRB_REMOTE_CACHE = cache.url.href;
  const fetched = await fetchedCheckpoints(parent);
  if (typeof fetched === "string") assert.fail(fetched);
  const points = await branchPoints(parent, fetched.folders);
  if (typeof points === "string") assert.fail(points);
  assert.deepEqual(
    points.map(({ step }) => step),
    [1, 2],
  );
  const gets = () => cache.requests.filter(({ method }) => method === "GET").length;
  const before = gets();
  assert.equal(await fetched.complete(points[0]!.folder), undefined);
  assert.equal(gets() - before, 2, "its list, and its own large file");
  const point = points[0]!;
  const branch = branchAt(parent, point, []);
  const made = makeBranch(parent, { point, branch, running });
  fetched.remove();
  assert.deepEqual(readdirSync(join(path, "parcels")), []);
  assert.ok(readFileSync(join(made.path, "checkpoints/contents/1")).equals(large[0]));
  assert.equal(existsSync(join(made.path, "jobs")), false, "the branch has run nowhere yet");

  cache.stored.clear();
  assert.match(String(await fetchedCheckpoints(parent)), /cannot be fetched/);
  assert.deepEqual(readdirSync(join(path, "parcels")), []);

  const here = { formatVersion: 1, after: 2, workingMs: 900, entries: [] };
  write(path, { "checkpoints/0001.json": JSON.stringify(here) });
  const warned = async () => {
    const found = await fetchedCheckpoints(parent);
    if (typeof found === "string") assert.fail(found);
    assert.equal((await branchPoints(parent, found.folders)).length, 1);
    return found.warning;
  };
  assert.match(
    String(await warned()),
    /^only its checkpoints on this host are used: .*cannot be fetched: [^\n]+$/,
  );
  delete process.env.MLRB_REMOTE_CACHE;
  assert.match(String(await warned()), /no-remote-cache/);
  rmSync(join(path, checkpointParcelFile));
  assert.match(String(await warned()), /no checkpoint has reached the remote cache/);
});
