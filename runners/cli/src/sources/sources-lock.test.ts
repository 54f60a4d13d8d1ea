import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceLab } from "../testing/source-lab.ts";
import { sourcesLock } from "./sources-lock.ts";

const quiet = { json: false, update: false };
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

test("lock writes commit, licence, gate, and each file with size and SHA-256, of large and of plain files", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.declare("model", "org/model", 'type: model\nuse: base-model\nfiles: ["*.safetensors", "*.json"]\n');
  const texts = lab.hub.commit(
    "dataset",
    "org/texts",
    { "README.md": "# Texts", "data/train-0.parquet": "rows", "data/test-0.parquet": "more rows" },
    { license: ["odc-by", "mit"] },
  );
  const files = { "a.safetensors": "weights", "config.json": "{}", "pytorch_model.bin": "weights" };
  const model = lab.hub.commit("model", "org/model", files, { license: "other", license_name: "mine" });
  model.gated = "manual";
  const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
  assert.deepEqual([said.code, said.stderr], [0, ""]);
  assert.equal(
    lab.lock().split("\n\n")[1],
    `formatVersion: 1
sources:
  model:
    kind: resolved
    repository: org/model
    type: model
    revision: ${model.commits[0]!.sha}
    licence: other (mine)
    gated: manual
    patterns: [ "*.safetensors", "*.json" ]
    files:
      - { path: a.safetensors, size: 7, sha256: ${digest("weights")} }
      - { path: config.json, size: 2, sha256: ${digest("{}")} }
  texts:
    kind: resolved
    repository: org/texts
    type: dataset
    revision: ${texts.commits[0]!.sha}
    licence: odc-by, mit
    gated: none
    patterns: []
    files:
      - { path: README.md, size: 7, sha256: ${digest("# Texts")} }
      - { path: data/test-0.parquet, size: 9, sha256: ${digest("more rows")} }
      - { path: data/train-0.parquet, size: 4, sha256: ${digest("rows")} }
`,
  );
  assert.match(said.stdout, /^model: \w{12}, 2 files, 9 B, other \(mine\), gated: its owners grant access/m);
  const parquet = lab.hub.requests.filter(
    ({ path }) => path.includes("/resolve/") && path.endsWith(".parquet"),
  );
  assert.deepEqual(parquet, [], "the digest of a large file is read from the tree, not from its bytes");
});

test("a locked source is left alone without --update, and --update names what moved", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" });
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  const before = lab.lock();
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "two!" }, { license: "mit" });
  const left = await lab.say(() => sourcesLock(lab.repository, [], quiet));
  assert.match(left.stdout, /0 sources written to sources\.lock\.yaml, 1 locked already/);
  assert.equal(lab.lock(), before);
  const moved = await lab.say(() => sourcesLock(lab.repository, [], { ...quiet, update: true }));
  assert.equal(moved.code, 0);
  assert.match(moved.stdout, /file changed: a\.parquet, 3 bytes are locked, the hub has 4 others/);
  assert.match(moved.stdout, /licence: none is locked, the hub has mit/);
  assert.notEqual(lab.lock(), before);
});

test("a short revision is found among the commits, and one that matches none is refused", async (t) => {
  const lab = await sourceLab(t);
  const old = lab.hub.commit("dataset", "org/texts", { "a.parquet": "old" }).commits[0]!.sha;
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "new" });
  lab.declare("texts", "org/texts", `type: dataset\nuse: data\nrevision: "${old.slice(0, 7)}"\n`);
  assert.equal((await lab.say(() => sourcesLock(lab.repository, [], quiet))).code, 0);
  assert.match(lab.lock(), new RegExp(`revision: ${old}`));
  lab.declare("texts", "org/texts", 'type: dataset\nuse: data\nrevision: "0000000"\n');
  const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
  assert.equal(said.code, 1);
  assert.match(said.stderr, /unknown-revision: org\/texts: no commit begins with 0000000/);
});

test("a source that cannot be resolved keeps its entry, and the others are written", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("here", "org/here");
  lab.declare("later", "org/later");
  lab.hub.commit("dataset", "org/here", { "a.parquet": "one" });
  lab.hub.commit("dataset", "org/later", { "a.parquet": "one" });
  await lab.say(() => sourcesLock(lab.repository, ["later"], quiet));
  const later = lab.lock().slice(lab.lock().indexOf("  later:"));
  assert.match(lab.lock(), /here: \{ kind: unresolved \}/);
  lab.hub.faults.push({ path: /later/, times: 9, as: { status: 404 } });
  const said = await lab.say(() => sourcesLock(lab.repository, [], { ...quiet, update: true }));
  assert.equal(said.code, 1);
  assert.match(lab.lock(), /here:\n {4}kind: resolved/);
  assert.ok(lab.lock().endsWith(later));
});

const troubles = [
  [
    "a closed repository without a token",
    401,
    /hub-closed: dataset org\/texts: the hub refuses access \(401\)[\s\S]*help: accept the terms on the repository's page, and set HF_TOKEN/,
  ],
  ["a token without access", 403, /hub-closed: dataset org\/texts: the hub refuses access \(403\)/],
  [
    "a missing repository",
    404,
    /hub-missing: dataset org\/texts: the hub has no such repository, commit or file \(404\)[\s\S]*help: check repository/,
  ],
  [
    "too many requests",
    429,
    /hub-busy: dataset org\/texts: too many requests \(429\)[\s\S]*help: try again later/,
  ],
  ["a broken hub", 500, /hub-failed: dataset org\/texts: the hub answered 500/],
] as const;

for (const [title, status, words] of troubles)
  test(`${title} is reported with its place and the way out, and writes no lock`, async (t) => {
    const lab = await sourceLab(t);
    lab.declare("texts", "org/texts");
    lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" });
    lab.hub.faults.push({ path: /./, times: 99, as: { status, headers: { "retry-after": "0" } } });
    const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
    assert.equal(said.code, 1);
    assert.match(said.stderr, words);
    assert.match(said.stderr, /^sources\/texts\.yaml:4:13 /m);
    assert.ok(!existsSync(join(lab.repository, "sources.lock.yaml")));
  });

test("a busy hub and a connection that breaks half-way are asked again", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.hub.commit("dataset", "org/texts", { "README.md": "a text that is cut" });
  lab.hub.faults.push({ path: /revision/, times: 2, as: { status: 429, headers: { "retry-after": "0" } } });
  lab.hub.faults.push({ path: /resolve/, times: 1, as: "cut" });
  const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
  assert.deepEqual([said.code, said.stderr], [0, ""]);
  assert.match(lab.lock(), new RegExp(digest("a text that is cut")));
});

test("an answer that is cut, of another form, or with a path that leaves its folder is refused", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const sha = "a".repeat(40);
  const entry = (path: string) => JSON.stringify([{ type: "file", path, size: 1, oid: sha }]);
  const answers: [RegExp, string, RegExp][] = [
    [/revision/, '{"sha": "abc', /hub-answer: dataset org\/texts: the hub's answer cannot be read/],
    [/revision/, '{"sha": "abc"}', /hub-answer: org\/texts: the hub's answer is not usable: sha is "abc"/],
    [/tree/, entry("../../etc/cron.d/x"), /is not usable: path is "\.\.\/\.\.\/etc\/cron\.d\/x"/],
    [/tree/, entry("/etc/x"), /is not usable: path is "\/etc\/x"/],
    [/tree/, "[]", /no-files: org\/texts: the repository has no files/],
    [/resolve/, "other", /the content is not that of the commit/],
  ];
  lab.hub.commit("dataset", "org/texts", { "README.md": "text" });
  for (const [path, text, words] of answers) {
    lab.hub.faults.splice(0, 9, { path, times: 1, as: { text } });
    const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
    assert.equal(said.code, 1, text);
    assert.match(said.stderr, words);
  }
});

test("an answer that is too long, and a list that does not end, are refused before they fill the memory", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const short = { type: "dataset", use: "data", revision: '"0000000"', files: '["*.none"]' };
  const more = Object.entries(short).map(([key, value]) => `${key}: ${value}\n`);
  lab.hub.commit("dataset", "org/texts", { "README.md": "text" });
  const next = (what: string) => ({
    link: `<${lab.hub.endpoint}/api/datasets/org/texts/${what}/x>; rel="next"`,
  });
  const folders = JSON.stringify(Array(100_001).fill({ type: "directory" }));
  const commits = JSON.stringify(Array(100_001).fill({ id: "1", authors: [] }));
  type Answer = { text: string; headers?: Record<string, string> };
  const answers: [RegExp, Answer, RegExp][] = [
    [/resolve/, { text: "x".repeat(1 << 20) }, /README\.md: the answer has more than 5 bytes, and was not/],
    [/tree/, { text: " ".repeat((64 << 20) + 1) }, /tree\/\w+: the answer has more than 67108864 bytes/],
    [/tree/, { text: "[]", headers: next("tree") }, /endless-list: .* does not end after 200 pages/],
    [/tree/, { text: folders }, /endless-list: .* does not end after 100000 entries/],
    [/commits/, { text: commits }, /endless-list: .* does not end after 100000 entries/],
    [/commits/, { text: "[]", headers: next("commits") }, /endless-list: .* does not end after 200 pages/],
  ];
  for (const [path, as, words] of answers) {
    if (path.test("commits")) lab.declare("texts", "org/texts", more.join(""));
    lab.hub.faults.splice(0, 9, { path, times: 1000, as });
    const said = await lab.say(() => sourcesLock(lab.repository, [], quiet));
    assert.equal(said.code, 1);
    assert.match(said.stderr, words);
  }
});

test("an unreachable hub, HF_HUB_OFFLINE and a wrong endpoint are refused with the way out", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const say = (env: Record<string, string>) => lab.say(() => sourcesLock(lab.repository, [], quiet), env);
  const far = await say({ HF_ENDPOINT: "http://127.0.0.1:9" });
  assert.equal(far.code, 1);
  assert.match(
    far.stderr,
    /hub-unreachable: http:\/\/127\.0\.0\.1:9\/api\/datasets\/org\/texts[\s\S]*HF_ENDPOINT/,
  );
  const offline = await say({ HF_HUB_OFFLINE: "1" });
  assert.equal(offline.code, 2);
  assert.match(offline.stderr, /hub-offline: HF_HUB_OFFLINE is set[\s\S]*unset HF_HUB_OFFLINE/);
  assert.match((await say({ HF_ENDPOINT: "hub" })).stderr, /bad-endpoint: HF_ENDPOINT is hub/);
  assert.deepEqual(lab.hub.requests, []);
});

test("HF_TOKEN opens a closed repository, is sent to no other host, and is printed nowhere", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.hub.commit("dataset", "org/texts", { "README.md": "text", "a.parquet": "rows" }).closed = true;
  const token = { HF_TOKEN: "hf_test" };
  const said = await lab.say(() => sourcesLock(lab.repository, [], quiet), token);
  assert.deepEqual([said.code, said.stderr], [0, ""]);
  assert.ok(lab.hub.requests.every(({ authorization }) => authorization === "Bearer hf_test"));
  assert.doesNotMatch(said.stdout + lab.lock(), /hf_test/);
  const other = await sourceLab(t);
  lab.hub.faults.push({
    path: /tree/,
    times: 1,
    as: {
      text: "[]",
      headers: { link: `<${other.hub.endpoint}/api/datasets/org/texts/tree/x>; rel="next"` },
    },
  });
  await lab.say(() => sourcesLock(lab.repository, [], { ...quiet, update: true }), token);
  const location = `${other.hub.endpoint}/README.md`;
  lab.hub.faults.push({ path: /README/, times: 1, as: { status: 302, headers: { location } } });
  await lab.say(() => sourcesLock(lab.repository, [], { ...quiet, update: true }), token);
  assert.deepEqual(
    other.hub.requests.map(({ path, authorization }) => [path, authorization]),
    [
      ["/api/datasets/org/texts/tree/x", undefined],
      ["/README.md", undefined],
    ],
  );
});

test("an unknown source and a damaged lock are refused before the hub is asked", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const unknown = await lab.say(() => sourcesLock(lab.repository, ["text"], quiet));
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /unknown-source: no source named "text"[\s\S]*did you mean "texts"/);
  const leaving = `{ path: ../x, size: 1, sha256: "${"0".repeat(64)}" }`;
  const about = "repository: a/b, type: dataset, licence: mit, gated: none, patterns: []";
  const entry = `{ kind: resolved, ${about}, revision: "${"0".repeat(40)}", files: [${leaving}] }`;
  writeFileSync(join(lab.repository, "sources.lock.yaml"), `formatVersion: 1\nsources:\n  texts: ${entry}\n`);
  const damaged = await lab.say(() => sourcesLock(lab.repository, [], quiet));
  assert.equal(damaged.code, 2);
  assert.match(
    damaged.stderr,
    /^sources\.lock\.yaml:2:1 bad-lock: sources\.texts\.files\.0\.path is "\.\.\/x": it must match/m,
  );
  assert.deepEqual(lab.hub.requests, []);
});
