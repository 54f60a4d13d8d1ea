import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type RunnerNews, runnerNews } from "@mlrb/formats/stage/parcel";
import type { SlurmJob } from "@mlrb/formats/stage/slurm-job";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { ParcelPost } from "./parcel-post.ts";

const job: SlurmJob = { formatVersion: 1, run: "r", job: "1", stage: "s", key: "k", work: "/w", log: "/l" };
const given: RunnerNews = { kind: "given-up", formatVersion: 1 };

async function place(t: TestContext) {
  const cache = await new LoopbackCache().start();
  const folder = mkdtempSync(join(tmpdir(), "mlrb-parcels-"));
  const clients: RemoteClient[] = [];
  t.after(() => {
    for (const client of clients) client.close();
    cache.close();
    rmSync(folder, { recursive: true });
  });
  const post = (key: Buffer) => {
    const limits = { ...remoteLimits, pauseMs: 1 };
    const client = new RemoteClient({ url: cache.url, token: undefined }, { concurrency: 2, limits });
    clients.push(client);
    return new ParcelPost({
      client,
      key,
      scratch: join(folder, "scratch"),
      signal: new AbortController().signal,
    });
  };
  const from = join(folder, "from");
  mkdirSync(join(from, "in/deep"), { recursive: true });
  mkdirSync(join(from, "out/empty"), { recursive: true });
  writeFileSync(join(from, "in/deep/-name with\nlines"), "inside");
  writeFileSync(join(from, "stage.json"), "{}");
  writeFileSync(join(from, "out/program"), "x");
  chmodSync(join(from, "out/program"), 0o755);
  symlinkSync("nowhere", join(from, "out/link"));
  return { cache, folder, from, to: join(folder, "to"), post };
}

const isTrouble = (error: unknown) => error instanceof RemoteTrouble && error.kind === "wrong-bytes";

test("files arrive with names, modes, links and empty folders, equal ones are sent once, and none can be read", async (t) => {
  const { cache, from, to, post } = await place(t);
  const key = randomBytes(32);
  const work = await post(key).send(from, { without: ["in"] });
  const input = await post(key).send(join(from, "in"), { entry: "./deep" });
  assert.deepEqual(await post(key).send(join(from, "in"), { entry: "./deep" }), input);
  assert.equal(cache.stored.size, 2);
  for (const bytes of cache.stored.values())
    assert.ok(!/inside|stage|program/.test(bytes.toString("latin1")));
  await post(key).fetch(work, to);
  await post(key).fetch(input, join(to, "in"));
  const entries = (at: string) => readdirSync(at, { recursive: true }).sort();
  assert.deepEqual(entries(to), entries(from));
  assert.equal(readFileSync(join(to, "in/deep/-name with\nlines"), "utf8"), "inside");
  assert.equal(statSync(join(to, "out/program")).mode & 0o777, 0o755);
});

test("a parcel that another key sealed, or that was exchanged under its digest, is not unpacked", async (t) => {
  const { cache, from, to, post } = await place(t);
  const key = randomBytes(32);
  const parcel = await post(key).send(from);
  await assert.rejects(post(randomBytes(32)).fetch(parcel, to), isTrouble);
  const [path, bytes] = [...cache.stored][0]!;
  const changed = Buffer.from(bytes);
  changed[changed.length >> 1]! ^= 1;
  cache.stored.set(path, changed);
  await assert.rejects(post(key).fetch(parcel, to), isTrouble);
  assert.deepEqual(
    readdirSync(join(to, "..")).filter((name) => name === "to"),
    [],
  );
});

test("a sender with doubts sends again what the server claims to have", async (t) => {
  const { cache, folder, post } = await place(t);
  const large = join(folder, "large");
  mkdirSync(large);
  writeFileSync(join(large, "weights"), randomBytes(200_000));
  const sender = post(randomBytes(32));
  await sender.send(large);
  await sender.send(large);
  const puts = () => cache.requests.filter(({ method }) => method === "PUT").length;
  assert.equal(puts(), 1);
  sender.doubt();
  await sender.send(large);
  assert.equal(puts(), 2);
});

test("news are read from the slot of their side and job only, whatever the server puts there", async (t) => {
  const { cache, post } = await place(t);
  const both = post(randomBytes(32));
  assert.equal(await both.get(job, "runner", runnerNews), undefined);
  await both.put(job, "runner", given);
  assert.deepEqual(await both.get(job, "runner", runnerNews), given);
  assert.equal(await both.get({ ...job, job: "2" }, "runner", runnerNews), undefined);
  const [path, bytes] = [...cache.stored][0]!;
  await both.put({ ...job, job: "2" }, "runner", {
    kind: "end",
    formatVersion: 1,
    end: { formatVersion: 1, signal: "TERM" },
  });
  const other = [...cache.stored.keys()].find((one) => one !== path)!;
  cache.stored.set(other, bytes);
  await assert.rejects(both.get({ ...job, job: "2" }, "runner", runnerNews), isTrouble);
  for (const answer of ["", "{}", '{"stdoutRaw":"!"}', "null"]) {
    cache.stored.set(path, Buffer.from(answer));
    await assert.rejects(both.get(job, "runner", runnerNews), isTrouble);
  }
});
