import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LoopbackHub } from "../../../../tests/support/servers/loopback-hub.ts";
import { HubTrouble } from "../sources/hub-client.ts";
import { hubRepository, hubSubmissions } from "./hub-submissions.ts";

const [first, second, digest, plain] = ["1", "2", "3", "4"].map((sign) => sign.repeat(64)) as [
  string,
  string,
  string,
  string,
];
const record = (of: string) => JSON.stringify({ outputs: { submission: { digest: of } } });
const files = {
  "README.md": "# Submissions",
  [`${first}/record.json`]: record("5".repeat(64)),
  [`${first}/submission/model.safetensors`]: "other weights",
  [`${second}/record.json`]: record(digest),
  [`${second}/trajectory.jsonl`]: "{}",
  [`${second}/submission/model.safetensors`]: "weights",
  [`${second}/submission/code/run.py`]: "pass",
  [`${plain}/config.json`]: "{}",
};

async function lab(t: TestContext, published: Record<string, string> = files) {
  const hub = await new LoopbackHub().start();
  const work = mkdtempSync(join(tmpdir(), "hub-submissions-"));
  t.after(() => {
    hub.close();
    rmSync(work, { recursive: true });
  });
  const repository = hub.commit("dataset", "org/subs", published);
  const env = { HF_ENDPOINT: hub.endpoint, HF_TOKEN: "hf_test" };
  const open = async (named = "hf://datasets/org/subs", more = {}) => {
    const held = await hubSubmissions(hubRepository(named)!, { ...env, ...more });
    assert.ok(!(held instanceof HubTrouble), String(held));
    return held;
  };
  const read = () => hub.requests.flatMap(({ path }) => path.match(/\/resolve\/\w+\/(.*)$/)?.[1] ?? []);
  return { hub, work, env, open, read, repository };
}

test("an address names a data set or a model and a revision, and no other place", () => {
  const of = (named: string) => {
    const found = hubRepository(named);
    return found && [found.type, found.repository, found.revision];
  };
  assert.deepEqual(of("hf://datasets/org/subs"), ["dataset", "org/subs", undefined]);
  assert.deepEqual(of("hf://org/subs@v1.0"), ["model", "org/subs", "v1.0"]);
  assert.deepEqual(of("hf://datasets/org/subs@refs/pr/1"), ["dataset", "org/subs", "refs/pr/1"]);
  for (const bad of ["../records", "hf://datasets/subs", "hf://org/..", "hf://spaces/org", "hf://a/b/c"])
    assert.equal(of(bad), undefined, bad);
  for (const bad of ["hf://org/a@../../x", "hf://org/a@", "hf://org/a?b@c", "hf://or g/a"])
    assert.equal(of(bad), undefined, bad);
});

test("of a repository only records and the chosen submission's files are read, at one commit", async (t) => {
  const { hub, work, open, read, repository } = await lab(t);
  repository.closed = true; // the token is needed
  const held = await open();
  hub.commit("dataset", "org/subs", { "README.md": "everything was removed" });
  assert.deepEqual(await held.placeOf(digest, work), { path: work, inside: "published" });
  assert.equal(readFileSync(join(work, "published/model.safetensors"), "utf8"), "weights");
  assert.equal(readFileSync(join(work, "published/code/run.py"), "utf8"), "pass");
  assert.deepEqual(read().sort(), [
    `${first}/record.json`,
    `${second}/record.json`,
    `${second}/submission/code/run.py`,
    `${second}/submission/model.safetensors`,
  ]);
  assert.ok(hub.requests.filter(({ path }) => path.startsWith("/lfs/")).length === 1, "the redirect");
});

test("a folder with the digest as its name needs no record, and what is not there is named", async (t) => {
  const { work, open, read } = await lab(t);
  const held = await open();
  assert.deepEqual(await held.placeOf(plain, work), { path: work, inside: "published" });
  assert.deepEqual(read(), [`${plain}/config.json`]);
  assert.equal(
    await held.placeOf("9".repeat(64), work),
    "there is no submission with this digest in hf://datasets/org/subs",
  );
});

test("a connection that breaks is tried again, and a file of another size than listed is refused", async (t) => {
  const { hub, work, open } = await lab(t);
  const held = await open();
  hub.faults.push({ path: /run\.py$/, times: 1, as: "cut" });
  assert.deepEqual(await held.placeOf(digest, work), { path: work, inside: "published" });
  assert.equal(readFileSync(join(work, "published/code/run.py"), "utf8"), "pass");
  hub.faults.push({ path: /config\.json$/, times: 1, as: { text: "x".repeat(1000) } });
  assert.match(String(await held.placeOf(plain, work)), /^long-answer: .*more than 2 bytes.*; /);
  hub.faults.push({ path: /config\.json$/, times: 1, as: { status: 403 } });
  assert.match(String(await held.placeOf(plain, work)), /^hub-closed: .*HF_TOKEN/);
});

test("a path that leaves its folder is refused before any file is read", async (t) => {
  const { hub, work, env } = await lab(t, { ...files, [`${second}/submission/../../../evil`]: "x" });
  const found = await hubSubmissions(hubRepository("hf://datasets/org/subs")!, env);
  assert.ok(found instanceof HubTrouble);
  assert.match(`${found.code}: ${found.message}`, /^hub-answer: org\/subs: .*path/);
  assert.deepEqual(readdirSync(work), []);
  assert.ok(hub.requests.every(({ path }) => !path.includes("/resolve/")));
});

test("a hub that must not be asked, or has no such repository, is a trouble with the way out", async (t) => {
  const { hub, env } = await lab(t);
  const trouble = async (named: string, more = {}) => {
    const found = await hubSubmissions(hubRepository(named)!, { ...env, ...more });
    assert.ok(found instanceof HubTrouble);
    return `${found.code}: ${found.help}`;
  };
  const offline = await trouble("hf://datasets/org/subs", { HF_HUB_OFFLINE: "1" });
  assert.match(offline, /^hub-offline: unset HF_HUB_OFFLINE, or download the repository/);
  assert.equal(hub.requests.length, 0);
  assert.match(await trouble("hf://org/subs"), /^hub-missing: /);
});
