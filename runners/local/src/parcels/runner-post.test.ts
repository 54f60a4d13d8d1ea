// What a node sends back is its own choice: every node has the key of parcels.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { stateSecret } from "../stage/secret-seed.ts";
import { ParcelPost } from "./parcel-post.ts";
import { RunnerPost } from "./runner-post.ts";

async function place(t: TestContext) {
  const server = await new LoopbackCache().start();
  const root = mkdtempSync(join(tmpdir(), "mlrb-collect-"));
  const state = join(root, ".mlrb");
  const work = join(state, "attempts/running/a");
  const node = join(root, "node");
  for (const folder of [join(work, "out"), join(work, "jobs/1"), join(node, "out")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(work, "stage.json"), "the host's");
  const lines = ["spending.jsonl", "out/trajectory.jsonl"];
  for (const name of lines) writeFileSync(join(work, name), "{}\n");
  for (const name of lines) writeFileSync(join(node, name), "{}\n{}\n");
  const cache = { url: server.url, token: undefined };
  const client = new RemoteClient(cache, { concurrency: 2, limits: remoteLimits });
  const key = createHmac("sha256", stateSecret(state)).update("parcels").digest();
  const there = new ParcelPost({
    ...{ clients: { parcels: client, news: client }, key, signal: new AbortController().signal },
    scratch: join(root, "scratch"),
  });
  const post = new RunnerPost({ cache, state, scratch: join(work, "parcels"), program: "" });
  t.after(() => {
    post.close();
    client.close();
    server.close();
    rmSync(root, { recursive: true });
  });
  const collect = async (names: string[], grown = lines) =>
    post.collect(await there.send(node, names), {
      ...{ work, log: join(work, "log"), scratch: join(work, "jobs/1/arrived"), grown },
    });
  return { root, work, node, collect };
}

test("an attempt's outputs and reports take their places", async (t) => {
  const { work, node, collect } = await place(t);
  writeFileSync(join(node, "where.json"), "{}");
  await collect(["out", "spending.jsonl", "where.json"]);
  assert.equal(readFileSync(join(work, "out/trajectory.jsonl"), "utf8"), "{}\n{}\n");
  assert.equal(readFileSync(join(work, "where.json"), "utf8"), "{}");
});

test("no other file of the attempt can be replaced, and nothing moves through a link", async (t) => {
  const { root, work, node, collect } = await place(t);
  const victim = join(root, "home");
  mkdirSync(victim);
  writeFileSync(join(victim, "id_ed25519"), "private");
  writeFileSync(join(node, "stage.json"), "the node's");
  mkdirSync(join(node, "jobs/2"), { recursive: true });
  symlinkSync(victim, join(node, "out/attachments"));
  const all = ["out", "spending.jsonl"];
  for (const [names, what] of [
    [[...all, "stage.json"], /sent stage\.json, which is no output/],
    [[...all, "jobs"], /sent jobs, which is no output/],
    [all, /sent out\/attachments, which is a link/],
  ] as const)
    await assert.rejects(collect([...names]), what);
  rmSync(join(node, "out"), { recursive: true });
  symlinkSync(victim, join(node, "out"));
  await assert.rejects(collect(["out"], []), /sent out, which is no output/);
  assert.equal(readFileSync(join(work, "stage.json"), "utf8"), "the host's");
  assert.deepEqual(readdirSync(join(work, "jobs")), ["1"]);
  assert.deepEqual(readdirSync(victim), ["id_ed25519"]);
  assert.deepEqual(readdirSync(join(work, "out")), ["trajectory.jsonl"]);
});
