import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { type Bound, bind } from "../decide/bind-inputs.ts";
import { findCachedAction } from "../decide/find-cached-action.ts";
import { makeRunKey, type RunKey } from "../signatures/run-key.ts";
import { signingKeys, noSshKeygen as skip } from "../testing/signing-keys.ts";
import { home, type SmallStage, smallPlan } from "../testing/small-plan.ts";
import { RemoteCache, type RemoteSettings } from "./remote-cache.ts";
import { entryText } from "./remote-entry.ts";

const limits = { stallMs: 5000, answerMs: 5000, takeMs: 5000, patienceMs: 99_000, tries: 2, pauseMs: 1 };

// keys are made once: ssh-keygen takes longer than most tests
const keys = skip ? undefined : signingKeys({ after });
const run = (name: string) => makeRunKey(keys!.make(name)) as RunKey;
const alice = skip ? undefined : run("alice");
const mallory = skip ? undefined : run("mallory");
const signers = skip ? "" : keys!.allowing("alice");

const folderStage: SmallStage = { name: "score", gives: { table: "file", folder: "dir" } };

/** One machine with an empty state, at the shared server. */
async function machine(t: TestContext, server: LoopbackCache, stage = folderStage) {
  const at = home(t);
  const workspace = at.open();
  const plan = smallPlan(stage);
  const instance = plan.instances[0]!;
  const bound = await bind(instance, { plan, results: [], workspace });
  const open = (more: Partial<RemoteSettings> = {}) => {
    const said: string[] = [];
    const settings = { url: server.url, token: undefined, signers, limits, ...more };
    const remote = new RemoteCache(settings, workspace, (line) => said.push(line));
    t.after(() => remote.end(0));
    return { remote, said };
  };
  const { signal } = new AbortController();
  return {
    ...at,
    workspace,
    instance,
    bound,
    open,
    take: (remote: RemoteCache) => remote.take(instance, bound, { signal }),
    found: () => findCachedAction(instance, bound, { plan, workspace }),
    /** Contents that were begun and not put in place. */
    left: () => readdirSync(workspace.state.blobs).filter((name) => name.startsWith("tmp-")),
  };
}

const large = randomBytes(300_000);

/** Records the action as if it had run on this machine. */
function record(
  { workspace, bound }: { workspace: Workspace; bound: Bound },
  durationMs = 7,
): Record<string, Artifact> {
  const made = mkdtempSync(join(tmpdir(), "mlrb-made-"));
  mkdirSync(join(made, "folder/below"), { recursive: true });
  writeFileSync(join(made, "folder/below/large"), large);
  writeFileSync(join(made, "folder/empty"), "");
  const { store, actions } = workspace;
  const outputs = {
    table: { kind: "file", digest: store.putText("a,b\n1,2\n") } as const,
    folder: store.put(join(made, "folder"), "dir"),
  };
  rmSync(made, { recursive: true });
  actions.put({
    formatVersion: 1,
    key: bound.key,
    parts: bound.parts,
    codeFiles: store.putText("{}"),
    outputs,
    ran: { run: "theirs", startedAt: "then", durationMs, executor: "local", host: "gpu1", stage: "score" },
  });
  return outputs;
}
type Workspace = Awaited<ReturnType<typeof machine>>["workspace"];

async function server(t: TestContext): Promise<LoopbackCache> {
  const one = await new LoopbackCache().start();
  t.after(() => one.close());
  return one;
}

/** A server that holds the result of a first machine, and a second machine. */
async function filled(t: TestContext) {
  const cache = await server(t);
  const first = await machine(t, cache);
  const outputs = record(first);
  const { remote } = first.open({ runKey: alice! });
  remote.offer(first.instance, first.bound);
  assert.deepEqual((await remote.end(9000)).sent, 1);
  cache.requests.length = 0;
  return { cache, first, outputs, second: await machine(t, cache) };
}

test("a result that one machine sent is taken by another, byte for byte, with its host and signer", {
  skip,
}, async (t) => {
  const { cache, outputs, second } = await filled(t);
  const { remote, said } = second.open();
  assert.equal(await second.take(remote), "alice");
  const found = second.found();
  assert.ok(found.kind === "found");
  assert.deepEqual(found.cached.outputs, outputs);
  const to = join(second.root, "out");
  second.workspace.store.restore(outputs.folder!, to);
  assert.ok(readFileSync(join(to, "below/large")).equals(large));
  assert.equal(readFileSync(join(to, "empty"), "utf8"), "");
  const { ran } = second.workspace.actions.get(second.bound.key)!;
  assert.equal(ran.host, "gpu1");
  assert.equal(ran.where?.remoteCache, "signed by alice");
  const use = await remote.end(0);
  assert.deepEqual([use.taken, use.rejected, use.sent], [1, 0, 0]);
  assert.ok(
    cache.requests.every(({ method }) => method === "GET"),
    "a reader writes nothing",
  );
  assert.deepEqual(said, []);
});

test("the entry is sent after its contents, which an ActionResult names with their sizes", {
  skip,
}, async (t) => {
  const cache = await server(t);
  const at = await machine(t, cache);
  const outputs = record(at);
  const { remote } = at.open({ runKey: alice! });
  remote.offer(at.instance, at.bound);
  await remote.end(9000);
  const last = cache.requests.at(-1)!;
  assert.equal(`${last.method} ${last.path}`, `PUT ac/${at.bound.key}`);
  const entry = JSON.parse(cache.stored.get(last.path)!.toString()) as {
    outputFiles: { digest: { hash: string; sizeBytes: string } }[];
  };
  for (const { digest } of entry.outputFiles)
    assert.equal(String(cache.stored.get(`cas/${digest.hash}`)!.length), digest.sizeBytes);
  assert.ok(entry.outputFiles.some(({ digest }) => digest.hash === outputs.folder!.digest));
  assert.equal(entry.outputFiles.length, cache.stored.size - 1);
});

test("attempts, environments, private data and measurements of a machine are neither asked for nor sent", {
  skip,
}, async (t) => {
  const cache = await server(t);
  const stages: SmallStage[] = [
    { name: "attempt", durable: true },
    { name: "attempt", durable: true, untrusted: true },
    { name: "speed", action: { hostSensitive: true } },
  ];
  for (const stage of stages) {
    const at = await machine(t, cache, stage);
    const { remote } = at.open({ runKey: alice! });
    remote.offer(at.instance, at.bound);
    assert.equal(await at.take(remote), undefined);
    await remote.end(9000);
  }
  const at = await machine(t, cache, { name: "data" });
  at.instance.stage.spec = { ...at.instance.stage.spec, gives: { out: { file: true, private: true } } };
  const { remote } = at.open({ runKey: alice! });
  remote.offer(at.instance, at.bound);
  assert.equal(await at.take(remote), undefined);
  await remote.end(9000);
  assert.deepEqual(cache.requests, []);
});

test("an entry that is unsigned, of an unknown signer, changed, or of another action is not used", {
  skip,
}, async (t) => {
  const { cache, first, second } = await filled(t);
  const path = `ac/${second.bound.key}`;
  const good = cache.stored.get(path)!;
  const { stdoutRaw } = JSON.parse(good.toString()) as { stdoutRaw: string };
  const signed = JSON.parse(Buffer.from(stdoutRaw, "base64").toString()) as Record<string, string>;
  const action = JSON.parse(signed.payload!);
  const packed = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64");
  const forged: [string, string | Buffer, RegExp][] = [
    ["no JSON", "<html>", /JSON/],
    ["no result", "{}", /stdoutRaw/],
    ["unsigned", JSON.stringify({ stdoutRaw: packed({ payload: signed.payload }) }), /runKey/],
    [
      "changed",
      JSON.stringify({ stdoutRaw: packed({ ...signed, payload: signed.payload!.replace("gpu1", "gpu2") }) }),
      /signature does not belong/,
    ],
    ["of an unknown signer", entryText(action, mallory!), /which .* does not allow/],
    ["of another action", entryText({ ...action, key: "a".repeat(64) }, alice!), /another action/],
    [
      "with another output",
      entryText({ ...action, outputs: { table: action.outputs.table } }, alice!),
      /outputs/,
    ],
    [
      "with a folder as file",
      entryText({ ...action, outputs: { ...action.outputs, table: action.outputs.folder } }, alice!),
      /outputs/,
    ],
    [
      "with a path for a digest",
      entryText({ ...action, contents: { ...action.contents, "../../x": 1 } }, alice!),
      /x|property name/,
    ],
    ["of a newer format", entryText({ ...action, formatVersion: 2 }, alice!), /formatVersion|newer/],
  ];
  for (const [what, text, why] of forged) {
    cache.stored.set(path, Buffer.from(text));
    const { remote, said } = second.open();
    assert.equal(await second.take(remote), undefined, what);
    assert.match(said.join("\n"), why, what);
    assert.equal((await remote.end(0)).rejected, 1, what);
    assert.equal(second.found().kind, "none", what);
  }
  // moved to the key of another action
  const other = await machine(t, cache, { ...folderStage, action: { params: { other: 1 } } });
  cache.stored.set(`ac/${other.bound.key}`, good);
  assert.equal(await other.take(other.open().remote), undefined);
  assert.equal(first.bound.key === other.bound.key, false);
});

test("a result whose contents are missing, wrong or unnamed is not used, and leaves nothing begun", {
  skip,
}, async (t) => {
  const { cache, outputs, second } = await filled(t);
  const table = `cas/${outputs.table!.digest}`;
  const path = `ac/${second.bound.key}`;
  const whole = new Map(cache.stored);
  const { stdoutRaw } = JSON.parse(cache.stored.get(path)!.toString()) as { stdoutRaw: string };
  const { payload } = JSON.parse(Buffer.from(stdoutRaw, "base64").toString()) as { payload: string };
  const action = JSON.parse(payload) as Parameters<typeof entryText>[0];
  const spoil: (() => void)[] = [
    () => cache.stored.delete(table),
    () => cache.stored.set(table, Buffer.from("a,b\n1,3\n")),
    () => cache.stored.set(table, Buffer.from("a,b\n")),
    () => cache.stored.set(table, Buffer.from("a,b\n1,2\nand more")),
    () => {
      const { [outputs.table!.digest]: _, ...contents } = action.contents;
      cache.stored.set(path, Buffer.from(entryText({ ...action, contents }, alice!)));
    },
  ];
  for (const [at, change] of spoil.entries()) {
    for (const [name, content] of whole) cache.stored.set(name, content);
    change();
    const { remote } = second.open();
    assert.equal(await second.take(remote), undefined, `case ${at}`);
    assert.notEqual(second.found().kind, "found", `case ${at}`);
    assert.deepEqual(second.left(), [], `case ${at}`);
    assert.equal(second.workspace.store.has(outputs.table!.digest), false, `case ${at}`);
  }
  for (const [name, content] of whole) cache.stored.set(name, content);
  assert.equal(await second.take(second.open().remote), "alice", "a sound server is used again");
});

test("a result that the disk has no room for is not loaded, and the server counts as sound", {
  skip,
}, async (t) => {
  const { cache, second } = await filled(t);
  const path = `ac/${second.bound.key}`;
  const { stdoutRaw } = JSON.parse(cache.stored.get(path)!.toString()) as { stdoutRaw: string };
  const { payload } = JSON.parse(Buffer.from(stdoutRaw, "base64").toString()) as { payload: string };
  const action = JSON.parse(payload) as Parameters<typeof entryText>[0];
  for (const digest of Object.keys(action.contents)) action.contents[digest] = 2 ** 50;
  cache.stored.set(path, Buffer.from(entryText(action, alice!)));
  const { remote, said } = second.open();
  for (let asked = 0; asked < 4; asked++) assert.equal(await second.take(remote), undefined);
  assert.match(
    said.join("\n"),
    /^remote cache: results of .* are more than the disk has room for; they are made here$/,
  );
  assert.ok(!cache.requests.some(({ path: asked }) => asked.startsWith("cas/")));
});

test("a server that fails three times in a row is left alone, with one line; one that answers is not", {
  skip,
}, async (t) => {
  const { cache, second } = await filled(t);
  const { remote, said } = second.open();
  const absent = await machine(t, cache, { ...folderStage, name: "absent" });
  const { signal } = new AbortController();
  const missing = () => remote.take(absent.instance, absent.bound, { signal });
  cache.faults.push({ path: /^ac/, times: 4, as: 500 }); // two tries each
  await missing();
  await missing();
  await missing(); // answers that there is none
  assert.deepEqual(said, []);
  cache.faults.push({ path: /^ac/, times: 99, as: 500 });
  for (let asked = 0; asked < 5; asked++) assert.equal(await second.take(remote), undefined);
  assert.equal(said.length, 1);
  assert.match(said[0]!, /results are not taken from it any more in this run: it answered 500/);
  assert.equal(cache.requests.length, 5 + 6);
});

test("a server that refuses the token is asked once", { skip }, async (t) => {
  const { cache, second } = await filled(t);
  cache.faults.push({ path: /./, times: 99, as: 401 });
  const { remote, said } = second.open({ token: "wrong", runKey: alice! });
  await second.take(remote);
  await second.take(remote);
  assert.equal(cache.requests.length, 1);
  assert.match(said.join(), /401/);
  assert.doesNotMatch(said.join(), /wrong/);
});

test("a full server gets no entry whose contents it refused", { skip }, async (t) => {
  const cache = await server(t);
  const at = await machine(t, cache);
  record(at);
  cache.faults.push({ path: /^cas/, method: "PUT", as: 507 });
  const { remote } = at.open({ runKey: alice! });
  remote.offer(at.instance, at.bound);
  const use = await remote.end(9000);
  assert.deepEqual([use.sent, use.unsent], [0, 1]);
  assert.ok(!cache.log().some((line) => line.startsWith("PUT ac/")));
});

test("the end of a run does not wait for a server that hangs longer than its limit", { skip }, async (t) => {
  const cache = await server(t);
  const at = await machine(t, cache);
  record(at);
  cache.faults.push({ path: /^cas/, times: 99, as: "silent" });
  const { remote } = at.open({ runKey: alice!, limits: { ...limits, stallMs: 60_000 } });
  for (let result = 0; result < 5; result++) remote.offer(at.instance, at.bound);
  const begin = performance.now();
  const use = await remote.end(50);
  assert.ok(performance.now() - begin < 1000);
  assert.deepEqual([use.sent, use.unsent], [0, 5]);
});

test("a damaged local content is not sent", { skip }, async (t) => {
  const cache = await server(t);
  const at = await machine(t, cache);
  const { folder } = record(at);
  const { store } = at.workspace;
  const file = store.filesOf(folder!.digest).find(({ path }) => path === "below/large")!;
  rmSync(store.pathOf(file.digest));
  writeFileSync(store.pathOf(file.digest), randomBytes(large.length));
  const { remote, said } = at.open({ runKey: alice! });
  remote.offer(at.instance, at.bound);
  assert.equal((await remote.end(9000)).unsent, 1);
  assert.match(said.join(), /damaged/);
  assert.ok(!cache.stored.has(`cas/${file.digest}`) && !cache.stored.has(`ac/${at.bound.key}`));
});

test("loading that lasts longer than twice the action is given up", { skip }, async (t) => {
  const { cache, second } = await filled(t);
  cache.faults.push({ path: /^cas/, times: 99, as: "drip" });
  const { remote, said } = second.open({ limits: { ...limits, takeMs: 100 } });
  const begin = performance.now();
  for (let asked = 0; asked < 4; asked++) assert.equal(await second.take(remote), undefined);
  assert.ok(performance.now() - begin < 3000);
  assert.match(said.join(), /not taken from it any more in this run: it took longer than the action/);
  assert.deepEqual(second.left(), []);
});

test("a server that costs more time than it saves is left alone; the time of taken results counts as saved", {
  skip,
}, async (t) => {
  const cache = await server(t);
  const first = await machine(t, cache);
  record(first, 60_000);
  const sending = first.open({ runKey: alice! }).remote;
  sending.offer(first.instance, first.bound);
  await sending.end(9000);
  const at = await machine(t, cache);
  const patient = at.open({ limits: { ...limits, patienceMs: 0 } });
  assert.equal(await at.take(patient.remote), "alice");
  assert.deepEqual(patient.said, []);
  const absent = await machine(t, cache, { ...folderStage, name: "absent" });
  const { remote, said } = absent.open({ limits: { ...limits, patienceMs: 0 } });
  await absent.take(remote);
  cache.requests.length = 0;
  await absent.take(remote);
  assert.deepEqual(cache.requests, []);
  assert.match(said.join(), /more time than it saves/);
});

test("an interrupted run stops loading at once, and the server counts as sound", { skip }, async (t) => {
  const { cache, second } = await filled(t);
  cache.faults.push({ path: /^cas/, times: 99, as: "silent" });
  const { remote, said } = second.open({ limits: { ...limits, stallMs: 60_000 } });
  const end = new AbortController();
  const taking = remote.take(second.instance, second.bound, {
    signal: end.signal,
    loading: () => end.abort(),
  });
  assert.equal(await taking, undefined);
  assert.deepEqual([said, second.left()], [[], []]);
});
