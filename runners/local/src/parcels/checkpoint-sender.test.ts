// Checkpoints on their way through a remote cache to another node, and the files of an attempt's next job.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { Parcel } from "@mlrb/formats/stage/parcel";
import { checkpointParcel, checkpointParcelFile } from "@mlrb/kit/attempts/checkpoint-parcel";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { thisProcess } from "../leases/owner.ts";
import { RemoteClient, remoteLimits } from "../remote/remote-client.ts";
import { RemoteTrouble } from "../remote/remote-trouble.ts";
import { AttemptOnNode } from "./attempt-on-node.ts";
import { attemptParcel, mustHaveGrown } from "./attempt-parcel.ts";
import { CheckpointSender } from "./checkpoint-sender.ts";
import { claimFolders } from "./job-folders.ts";
import { ParcelPost } from "./parcel-post.ts";

const { signal } = new AbortController();

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-checkpoints-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(folder: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const checkpointOf = (contents: string[]) =>
  JSON.stringify({
    ...{ formatVersion: 1, after: 2, workingMs: 5 },
    entries: contents.map((content) => ({ path: `workspace/${content}`, kind: "file", mode: 420, content })),
  });
const snapshot = (name: string) => JSON.stringify({ event: "snapshot", name });

async function nodes(t: TestContext) {
  const cache = await new LoopbackCache().start();
  const client = new RemoteClient(
    { url: cache.url, token: undefined },
    { concurrency: 2, limits: remoteLimits },
  );
  t.after(() => {
    client.close();
    cache.close();
  });
  const key = randomBytes(32);
  const node = () => {
    const folder = folderOf(t);
    const clients = { parcels: client, news: client };
    const post = new ParcelPost({ clients, key, signal, scratch: join(folder, "parcels") });
    const trajectory = join(folder, "trajectory");
    const sender = new CheckpointSender({ post, folder, trajectory, snapshots: "out/snapshots" });
    return { folder, sender, post };
  };
  const puts = () => cache.requests.filter(({ method }) => method === "PUT").length;
  return { node, puts, cache };
}

test("a checkpoint and its snapshots reach another node, and a large file is sent once", async (t) => {
  const { node, puts, cache } = await nodes(t);
  const [one, other] = [node(), node()];
  const large = randomBytes(1 << 20);
  write(one.folder, {
    trajectory: `${[snapshot("0001"), snapshot("0002"), snapshot("0003")].join("\n")}\n`,
    "out/snapshots/0001/model": "first",
    "out/snapshots/0003/model": "taken after the checkpoint",
    "checkpoints/0001.json": checkpointOf(["00000001", "00000002"]),
    "checkpoints/contents/00000001": "small",
    "checkpoints/contents/00000002": large,
    "checkpoints/contents/00000003": "of a checkpoint that is being taken",
  });
  await one.sender.send(signal);
  await one.sender.send(signal);
  assert.equal(puts(), 3);
  write(one.folder, { "checkpoints/0002.json": checkpointOf(["00000002"]) });
  await one.sender.send(signal);
  assert.equal(puts(), 4);
  for (const bytes of cache.stored.values()) assert.ok(!bytes.toString("latin1").includes("0001"));

  await other.sender.fetch(checkpointParcel(one.folder)!.parcel);
  assert.deepEqual(readdirSync(join(other.folder, "checkpoints")).sort(), ["0002.json", "contents"]);
  assert.ok(readFileSync(join(other.folder, "checkpoints/contents/00000002")).equals(large));
  assert.equal(readFileSync(join(other.folder, "out/snapshots/0001/model"), "utf8"), "first");
  assert.deepEqual(readdirSync(join(other.folder, "out/snapshots")), ["0001"]);
  write(other.folder, { "checkpoints/0003.json": checkpointOf(["00000002"]), trajectory: "" });
  await other.sender.send(signal);
  assert.equal(puts(), 5, "the next node knows the parcel of the large file");
});

test("a node's checkpoint leads to no file of the host that fetches it", async (t) => {
  const { node } = await nodes(t);
  const outside = folderOf(t);
  write(outside, { keys: "secret" });
  const sent = async (files: Record<string, string>, link: [string, string] | undefined, parts: object[]) => {
    const { folder, post } = node();
    write(folder, { ...files, "checkpoint-parts.json": JSON.stringify({ formatVersion: 1, parts }) });
    if (link) symlinkSync(link[0], join(folder, link[1]));
    return post.send(folder, ["checkpoints", "checkpoint-parts.json"]);
  };
  const large = node();
  write(large.folder, { "1": "written by a node" });
  const part = (folder: string, name: string) => ({ folder, name, parcel });
  const parcel = await large.post.send(large.folder, ["1"]);
  const list = { "checkpoints/0001.json": checkpointOf(["1"]) };
  const escapes: [Parcel, RegExp][] = [
    [await sent(list, [outside, "checkpoints/contents"], [part("checkpoints/contents", "1")]), /no file/],
    [
      await sent(
        { ...list, "checkpoints/contents/2": "" },
        [join(outside, "keys"), "checkpoints/contents/1"],
        [],
      ),
      /no file/,
    ],
    [
      await sent({ "checkpoints/0001.json": checkpointOf(["../../keys"]) }, undefined, []),
      /list cannot be read/,
    ],
    ...(await Promise.all(
      ["../1", "..", ".", "/", "a/1"].map(async (name): Promise<[Parcel, RegExp]> => {
        const named = await sent(list, undefined, [part("checkpoints/contents", name)]);
        return [named, /parts\.0\.name is "[^"]+": it must match pattern/];
      }),
    )),
    [await sent(list, undefined, [part("../elsewhere", "1")]), /a part in/],
    [await sent(list, undefined, []), /no content 1/],
    [await sent(list, undefined, [part("checkpoints/contents", "2")]), /a parcel without 2/],
    [await sent({ "checkpoints/0001.json/x": "" }, undefined, []), /list cannot be read: EISDIR/],
    [await sent(list, undefined, [{}]), /list cannot be read: checkpoint-parts.json/],
  ];
  for (const [hostile, refusal] of escapes)
    await assert.rejects(node().sender.fetch(hostile), (error: RemoteTrouble) => {
      assert.match(error.message, refusal);
      return error.kind === "wrong-bytes"; // so the checkpoint before is tried
    });
  assert.deepEqual(readdirSync(outside), ["keys"]);
  const { folder, sender } = node();
  await sender.fetch(await sent(list, undefined, [part("checkpoints/contents", "1")]));
  assert.equal(readFileSync(join(folder, "checkpoints/contents/1"), "utf8"), "written by a node");
});

test("a large file is sent under the number that it had in a checkpoint which could not be fetched", async (t) => {
  const { node, cache } = await nodes(t);
  const [one, other, third] = [node(), node(), node()];
  const [old, lost, fresh] = [0, 1, 2].map(() => randomBytes(1 << 20));
  write(one.folder, {
    trajectory: `${snapshot("0001")}\n`,
    "out/snapshots/0001/model": "first",
    "checkpoints/0001.json": checkpointOf(["1"]),
    "checkpoints/contents/1": old!,
  });
  await one.sender.send(signal);
  write(one.folder, {
    trajectory: `${snapshot("0001")}\n${snapshot("0002")}\n`,
    "out/snapshots/0002/model": "lost",
    "checkpoints/0002.json": checkpointOf(["1", "2", "3"]),
    "checkpoints/contents/2": lost!,
    "checkpoints/contents/3": randomBytes(1 << 20),
  });
  const before = new Set(cache.stored.keys());
  await one.sender.send(signal);
  const [, second] = [...cache.stored.keys()].filter((path) => !before.has(path)); // of 2, 3, the snapshot and the list
  const { parcel, before: earlier } = checkpointParcel(one.folder)!;
  const kept = cache.stored.get(second!)!;
  cache.stored.delete(second!);
  await assert.rejects(other.sender.fetch(parcel), RemoteTrouble);
  cache.stored.set(second!, kept);
  await other.sender.fetch(earlier!);
  write(other.folder, {
    trajectory: `${snapshot("0001")}\n${snapshot("0002")}\n`,
    "out/snapshots/0002/model": "again",
    "checkpoints/0002.json": checkpointOf(["1", "2"]),
    "checkpoints/contents/2": fresh!,
  });
  await other.sender.send(signal);
  await third.sender.fetch(checkpointParcel(other.folder)!.parcel);
  assert.ok(readFileSync(join(third.folder, "checkpoints/contents/2")).equals(fresh!));
  assert.equal(readFileSync(join(third.folder, "out/snapshots/0002/model"), "utf8"), "again");
});

test("a checkpoint that the cache does not take is not named, and is sent later", async (t) => {
  const { node, cache } = await nodes(t);
  const { folder, sender } = node();
  write(folder, { trajectory: "", "checkpoints/0001.json": checkpointOf([]), "out/snapshots/x": "" });
  cache.faults.push({ path: /^cas/, as: 507 });
  await assert.rejects(sender.send(signal), /507/);
  assert.equal(checkpointParcel(folder), undefined);
  await sender.send(signal);
  assert.equal(checkpointParcel(folder)?.name, "0001");
});

test("a lost checkpoint is replaced by the one before, and two lost ones are a failure", async (t) => {
  const { node, cache } = await nodes(t);
  const { folder, sender } = node();
  for (const name of ["0001", "0002"]) {
    write(folder, { trajectory: "", [`checkpoints/${name}.json`]: checkpointOf([]), "out/snapshots/x": "" });
    await sender.send(signal);
  }
  const { parcel, before } = checkpointParcel(folder)!;
  const restored = async (checkpoints: Parcel[]) => {
    const { folder: work, post } = node();
    const place = {
      work,
      log: join(work, "log"),
      outputs: { snapshots: join(work, "out/snapshots") },
      env: {},
    };
    const attempt = new AttemptOnNode({ request: place as unknown as ExecutionRequest, post, signal });
    t.after(() => attempt.close());
    await attempt.restore({ continues: true, checkpoints });
    const names = readdirSync(join(work, "checkpoints")).filter((name) => name.endsWith(".json"));
    return [names, existsSync(join(work, "log")) ? readFileSync(join(work, "log"), "utf8") : ""];
  };
  assert.deepEqual(await restored([parcel, before!]), [["0002.json"], ""]);
  cache.stored.delete(`cas/${parcel.digest}`);
  const [names, log] = await restored([parcel, before!]);
  assert.deepEqual(names, ["0001.json"]);
  assert.match(String(log), /has lost its last checkpoint, and the one before is used/);
  cache.stored.delete(`cas/${before!.digest}`);
  await assert.rejects(restored([parcel, before!]), RemoteTrouble);
  const [begin, words] = await restored([]);
  assert.deepEqual(begin, ["0000.json"]);
  assert.match(String(words), /its conversation begins again/);
});

const request = (work: string) =>
  ({ work, outputs: { trajectory: join(work, "out/trajectory.jsonl") } }) as unknown as ExecutionRequest;

test("a first job gets its empty outputs, and a later one the record and the checkpoint's name", (t) => {
  const folder = folderOf(t);
  write(folder, {
    "attempt.json": "{}",
    "stage.json": "{}",
    log: "",
    "supervisor.json": "{}",
    "jobs/1/job.json": "",
  });
  write(folder, { "end.json.reserved": " ", "out/submission/model": "", "out/trajectory.jsonl": "" });
  assert.deepEqual(attemptParcel(request(folder)), {
    letter: { continues: false, checkpoints: [] },
    names: ["attempt.json", "stage.json", "out"],
  });
  const [parcel, before] = ["a", "b"].map((digit) => ({ digest: digit.repeat(64), bytes: 3 }));
  write(folder, { "out/trajectory.jsonl": "{}\n", "attempt-x/sandbox-y/workspace/a": "" });
  assert.throws(() => attemptParcel(request(folder)), /its sandbox are on the disk of this host/);
  write(folder, {
    [checkpointParcelFile]: JSON.stringify({ formatVersion: 1, name: "0001", parcel, before }),
  });
  assert.deepEqual(attemptParcel(request(folder)), {
    letter: { continues: true, checkpoints: [parcel, before] },
    names: ["attempt.json", checkpointParcelFile, "stage.json", "out/trajectory.jsonl"],
  });
});

test("a record that comes back must begin as it is here, but for a cut last line", (t) => {
  const folder = folderOf(t);
  const grown = (before: string, now: string) => {
    write(folder, { before, now });
    mustHaveGrown(join(folder, "before"), join(folder, "now"));
  };
  grown("one\n", "one\ntwo\n");
  grown("one\ntw", "one\nresumed\n");
  assert.throws(() => grown("one\ntwo\n", "one\n"), /lacks lines of/);
  assert.throws(() => grown("one\ntwo\n", "one\ntoo\nthree\n"), /lacks lines of/);
});

test("a job leaves the folder alone that another job of its attempt on this node still uses", async (t) => {
  const work = join(folderOf(t), "attempt");
  write(work, { "jobs/1/parcel-owner.json": JSON.stringify({ owner: thisProcess(), work }), file: "" });
  await assert.rejects(
    claimFolders({ folder: join(work, "jobs/2"), work }),
    /another job on this node still uses/,
  );
  assert.deepEqual(readdirSync(work).sort(), ["file", "jobs"]);
  rmSync(join(work, "jobs/1"), { recursive: true });
  const own = await claimFolders({ folder: join(work, "jobs/2"), work });
  assert.deepEqual(readdirSync(work), ["jobs"]);
  own!.remove();
});

test("files that the cache did not take in the end stay where no later job of the node empties them", async (t) => {
  const { node } = await nodes(t);
  const { folder, post } = node();
  const work = join(folder, "running/a");
  const own = await claimFolders({ folder: join(work, "jobs/1"), work });
  write(work, { "out/trajectory.jsonl": "{}\n" });
  const place = { work, log: join(work, "log"), outputs: {}, env: {} } as unknown as ExecutionRequest;
  const attempt = new AttemptOnNode({ request: place, post, signal });
  t.after(() => attempt.close());
  await attempt.leave(own, new Error("it answered 507 to PUT"));
  await attempt.leave(own, new Error("again"));
  const [left] = readdirSync(join(folder, "running"));
  const log = readFileSync(join(folder, "running", left!, "log"), "utf8");
  assert.match(log, /did not take the end of its job: it answered 507 to PUT.*stay on the node/);
  assert.ok(log.includes(`${join(folder, "running", left!)}\n`));
  const next = await claimFolders({ folder: join(work, "jobs/2"), work });
  assert.deepEqual(readdirSync(join(folder, "running")).sort(), ["a", left!]);
  next!.remove();
});
