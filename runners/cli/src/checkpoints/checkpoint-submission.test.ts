import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { PlacedAttempt } from "@mlrb/local/attempts/attempt-folders";
import { CheckpointSender } from "@mlrb/local/parcels/checkpoint-sender";
import { ParcelPost } from "@mlrb/local/parcels/parcel-post";
import { RemoteClient, remoteLimits } from "@mlrb/local/remote/remote-client";
import { stateSecret } from "@mlrb/local/stage/secret-seed";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { checkpointSubmission } from "./checkpoint-submission.ts";

test("the submission of the newest checkpoint in the cache is brought here, and nothing else of it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-checkpoint-submission-"));
  const cache = await new LoopbackCache().start();
  const { signal } = new AbortController();
  const client = new RemoteClient(
    { url: cache.url, token: undefined },
    { concurrency: 2, limits: remoteLimits },
  );
  t.after(() => {
    delete process.env.MLRB_REMOTE_CACHE;
    client.close();
    cache.close();
    removeFolder(folder);
  });
  process.env.MLRB_REMOTE_CACHE = cache.url.href;
  const state = join(folder, "state");
  const work = join(folder, "attempt");
  for (const name of ["checkpoints/contents", "out/snapshots"])
    mkdirSync(join(work, name), { recursive: true });
  mkdirSync(state);
  const attempt = { name: "a", path: work, card: { slot: { stage: "attempt" } } } as unknown as PlacedAttempt;
  assert.match(
    String(await checkpointSubmission(attempt, state)),
    /no checkpoint has reached the remote cache/,
  );

  const large = randomBytes(1 << 20);
  const file = (path: string, content: string) => ({ path, kind: "file", mode: 0o644, content, bytes: 1 });
  const entries = [
    file("workspace/submission/weights", "00000001"),
    file("workspace/submission/note", "00000002"),
    file("workspace/cache", "00000003"),
  ];
  for (const [at, bytes] of [large, "a note", randomBytes(1 << 20)].entries())
    writeFileSync(join(work, `checkpoints/contents/0000000${at + 1}`), bytes);
  const checkpoint = { formatVersion: 1, after: 1, workingMs: 0, entries };
  writeFileSync(join(work, "checkpoints/0001.json"), JSON.stringify(checkpoint));
  writeFileSync(join(work, "trajectory"), "");
  const key = createHmac("sha256", stateSecret(state)).update("parcels").digest();
  const clients = { parcels: client, news: client };
  const post = new ParcelPost({ clients, key, signal, scratch: join(folder, "scratch") });
  const place = { post, folder: work, trajectory: join(work, "trajectory"), snapshots: "out/snapshots" };
  await new CheckpointSender(place).send(signal);

  const found = await checkpointSubmission(attempt, state);
  if (typeof found === "string") assert.fail(found);
  assert.deepEqual(readdirSync(join(found.root, "workspace")), ["submission"]);
  assert.ok(readFileSync(join(found.root, "workspace/submission/weights")).equals(large));
  assert.equal(readFileSync(join(found.root, "workspace/submission/note"), "utf8"), "a note");
  assert.equal(
    cache.requests.filter(({ method }) => method === "GET").length,
    2,
    "the other large file stays",
  );
  found.remove();
  cache.stored.clear();
  assert.match(
    String(await checkpointSubmission(attempt, state)),
    /the checkpoint of attempt cannot be fetched/,
  );
});
