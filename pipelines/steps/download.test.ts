// Downloads from a hub on this machine with the client of the stages.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { until } from "../../tests/support/processes.ts";
import { blobHash, type HubRepository, LoopbackHub } from "../../tests/support/servers/loopback-hub.ts";

const repository = join(import.meta.dirname, "../..");
const large = Buffer.alloc(1 << 20, "a row of text\n");
/** The client writes 10 MiB at a time. */
const larger = Buffer.alloc(44 << 20, "a row of text\n");

type Said = { code: number | null; stdout: string; stderr: string };
type Lab = {
  hub: LoopbackHub;
  made: HubRepository;
  locked: LockedSource;
  output: string;
  home: string;
  start(env?: Record<string, string>, locked?: LockedSource): { child: ChildProcess; ended: Promise<Said> };
};

async function lab(t: TestContext, content = large): Promise<Lab> {
  const files = { "README.md": "# Texts", "data/train.parquet": content };
  const hub = await new LoopbackHub().start();
  const above = mkdtempSync(join(tmpdir(), "mlrb-download-"));
  t.after(() => {
    hub.close();
    removeFolder(above);
  });
  const made = hub.commit("dataset", "org/texts", files, { license: "mit" });
  const [output, home] = [join(above, "files"), join(above, "home")];
  const locked: LockedSource = {
    repository: "org/texts",
    type: "dataset",
    revision: made.commits[0]!.sha,
    licence: "mit",
    gated: "none",
    patterns: [],
    files: Object.entries(files).map(([path, content]) => ({
      path,
      size: Buffer.byteLength(content),
      sha256: createHash("sha256").update(content).digest("hex"),
    })),
  };
  const start = (env: Record<string, string> = {}, from = locked) => {
    const child = spawn(
      testPython(),
      [
        join(import.meta.dirname, "download.py"),
        "--param",
        `locked=${JSON.stringify(from)}`,
        "--output",
        `files=${output}`,
      ],
      {
        env: {
          PATH: process.env.PATH,
          PYTHONPATH: pythonPath(repository),
          PYTHONDONTWRITEBYTECODE: "1",
          HF_ENDPOINT: hub.endpoint,
          HF_HOME: home,
          HF_HUB_DISABLE_XET: "1",
          HF_HUB_DISABLE_PROGRESS_BARS: "1",
          ...env,
        },
      },
    );
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]!.setEncoding("utf8").on("data", (text) => {
        said[name] += text;
      });
    const ended = new Promise<Said>((done) => child.on("close", (code) => done({ code, ...said })));
    return { child, ended };
  };
  return { hub, made, locked, output, home, start };
}

const bytesBelow = (folder: string, end: string): number =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(end))
        .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    : 0;

test("exactly the locked files come, at the locked commit, though the branch moved", async (t) => {
  const { hub, output, start, locked } = await lab(t);
  hub.commit("dataset", "org/texts", { "README.md": "# New", "new.parquet": "new" });
  const said = await start().ended;
  assert.deepEqual([said.code, said.stderr], [0, ""]);
  assert.deepEqual(readdirSync(output, { recursive: true }).sort(), [
    "README.md",
    "data",
    "data/train.parquet",
  ]);
  assert.ok(readFileSync(join(output, "data/train.parquet")).equals(large));
  assert.match(said.stdout, /licence: mit, gated: none\n1\/2 README\.md, 7 bytes\n2\/2 data\/train\.parquet/);
  const asked = hub.requests.filter(({ path }) => path.includes("/resolve/"));
  assert.ok(
    asked.every(({ path }) => path.includes(locked.revision)),
    "no request names a branch",
  );
});

test("a killed download goes on from the bytes on disk, and a connection that breaks does too", async (t) => {
  const { hub, output, home, start } = await lab(t, larger);
  hub.faults.push({ path: /^\/lfs\//, times: 1, as: "stall" });
  const first = start();
  await until("half of the file is on disk", () => bytesBelow(home, ".incomplete") > 0);
  first.child.kill("SIGKILL");
  await first.ended;
  const kept = bytesBelow(home, ".incomplete");
  assert.ok(kept > 0 && kept < larger.length, `${kept}`);
  hub.faults.push({ path: /^\/lfs\//, times: 1, as: "cut" });
  hub.requests.length = 0;
  const said = await start({ HF_HUB_DOWNLOAD_TIMEOUT: "120" }).ended; // also on a busy machine
  assert.deepEqual([said.code, said.stderr.replace(/^.*Trying to resume download\.*\n/gm, "")], [0, ""]);
  assert.ok(readFileSync(join(output, "data/train.parquet")).equals(larger));
  const ranges = hub.requests.filter(({ path, method }) => path.startsWith("/lfs/") && method === "GET");
  assert.equal(ranges[0]!.range, `bytes=${kept}-`);
  assert.ok(ranges.length === 2 && Number(/\d+/.exec(ranges[1]!.range!)![0]) > kept, JSON.stringify(ranges));
});

test("a file of another content is refused and removed, so a repeat asks again", async (t) => {
  const { made, start, home, output } = await lab(t);
  const file = made.commits[0]!.files.get("data/train.parquet")!;
  file.content = Buffer.concat([large.subarray(1), Buffer.from("!")]);
  const said = await start().ended;
  assert.equal(said.code, 1);
  assert.match(
    said.stderr,
    /org\/texts\/data\/train\.parquet: 1048576 bytes with SHA-256 \w+ came, locked are[\s\S]*sources verify/,
  );
  assert.ok(!existsSync(join(output, "data/train.parquet")));
  assert.ok(bytesBelow(join(home, "hub"), "") < large.length, "the wrong file is not kept");
  file.content = large;
  assert.equal((await start().ended).code, 0);
});

test("without a network the files that are there are used, and missing ones are refused", async (t) => {
  const { hub, start, output } = await lab(t);
  const early = await start({ HF_HUB_OFFLINE: "1" }).ended;
  assert.equal(early.code, 1);
  assert.match(
    early.stderr,
    /org\/texts\/README\.md: not in .*home, and HF_HUB_OFFLINE forbids to download it/,
  );
  assert.equal((await start().ended).code, 0);
  removeFolder(output);
  hub.requests.length = 0;
  const said = await start({ HF_HUB_OFFLINE: "1" }).ended;
  assert.deepEqual([said.code, said.stderr, hub.requests.length], [0, "", 0]);
  assert.ok(readFileSync(join(output, "data/train.parquet")).equals(large));
});

test("a gated source needs the token, and its value is not printed", async (t) => {
  const { made, start } = await lab(t);
  Object.assign(made, { gated: "auto", closed: true });
  const closed = await start().ended;
  assert.equal(closed.code, 1);
  assert.match(closed.stderr, /the hub refuses access; accept the terms on its page, and set HF_TOKEN/);
  const open = await start({ HF_TOKEN: "hf_test" }).ended;
  assert.equal(open.code, 0, open.stderr);
  assert.doesNotMatch(open.stdout + open.stderr, /hf_test/);
});

test("a longer or a shorter answer is dropped and asked for once more, and a repeated one blocks no later run", async (t) => {
  const { hub, start, output, home } = await lab(t);
  const page = (text: string, times: number) =>
    hub.faults.splice(0, 9, { path: /README/, method: "GET", times, as: { text } });
  for (const text of ["<html>a page that blocks</html>", "#"]) {
    page(text, 2);
    const said = await start().ended;
    assert.equal(said.code, 1);
    assert.match(
      said.stderr,
      /^org\/texts\/README\.md: more or fewer bytes came than the hub announced, again .* run again\n$/,
    );
    assert.equal(bytesBelow(join(home, "hub"), ".incomplete"), 0);
    page(text, 1);
    const next = await start().ended;
    assert.deepEqual([next.code, next.stderr], [0, ""]);
    assert.match(next.stdout, /README\.md: more or fewer bytes came .*; from the first byte\n1\/2 README/);
    assert.equal(readFileSync(join(output, "README.md"), "utf8"), "# Texts");
    for (const folder of [home, output]) removeFolder(folder);
  }
});

test("a partial file that is longer than the file is dropped, and so is an answer that does not end", async (t) => {
  const { hub, made, start, home } = await lab(t);
  const blobs = join(home, "hub/datasets--org--texts/blobs");
  mkdirSync(blobs, { recursive: true });
  const name = blobHash(made.commits[0]!.files.get("README.md")!.content);
  const partial = join(blobs, `${name}.incomplete`);
  writeFileSync(partial, "<html>a page that blocks</html>");
  const endless = Buffer.alloc(80 << 20, "a page ").toString();
  hub.faults.push({ path: /README/, method: "GET", times: 1, as: { status: 416 } });
  hub.faults.push({ path: /README/, method: "GET", times: 1, as: { text: endless } });
  const first = start();
  let most = 0;
  const watched = setInterval(() => {
    most = Math.max(most, bytesBelow(blobs, ".incomplete"));
  }, 5);
  const said = await first.ended;
  clearInterval(watched);
  assert.equal(said.code, 1);
  assert.match(said.stderr, /README\.md: more or fewer bytes came/);
  assert.ok(most > 0 && most <= 64 << 20, `${most}`);
  writeFileSync(partial, "<html>a page that blocks</html>");
  const next = await start().ended;
  assert.deepEqual([next.code, next.stderr], [0, ""]);
});

test("a folder that cannot be written is named with the way out", async (t) => {
  const { start, home } = await lab(t);
  writeFileSync(home, "");
  const said = await start().ended;
  assert.equal(said.code, 1);
  assert.match(
    said.stderr,
    /^org\/texts\/README\.md: \[Errno \d+\].*Is there room in .*home, and may this user/,
  );
});

test("HF_TOKEN is sent to the hub, and to no host that the hub names for a file", async (t) => {
  const [{ hub, made, start, locked, output }, other] = [await lab(t), await lab(t)];
  made.closed = true;
  const [readme, train] = locked.files;
  const elsewhere = (path: string) => ({ location: `${other.hub.endpoint}${path}` });
  const answer = { "x-repo-commit": locked.revision, "x-linked-size": `${train!.size}` };
  const stored = { ...answer, "x-linked-etag": `"${train!.sha256}"`, ...elsewhere(`/lfs/${train!.sha256}`) };
  const plain = elsewhere(`/datasets/org/texts/resolve/${locked.revision}/${readme!.path}`);
  hub.faults.push(
    { path: /train/, method: "HEAD", times: 1, as: { status: 302, headers: stored } },
    { path: /README/, method: "GET", times: 1, as: { status: 302, headers: plain } },
  );
  const said = await start({ HF_TOKEN: "hf_test" }).ended;
  assert.deepEqual([said.code, said.stderr], [0, ""]);
  assert.ok(readFileSync(join(output, "data/train.parquet")).equals(large));
  assert.ok(hub.requests.length > 0);
  assert.ok(hub.requests.every(({ authorization }) => authorization === "Bearer hf_test"));
  assert.deepEqual(
    other.hub.requests.map(({ path, authorization }) => [path, authorization]),
    [
      [new URL(plain.location).pathname, undefined],
      [new URL(stored.location).pathname, undefined],
    ],
  );
});

test("a busy hub is asked again, and a missing commit or a hub that answers another one is refused", async (t) => {
  const { hub, start, locked } = await lab(t);
  const gone = await start({}, { ...locked, revision: "f".repeat(40) }).ended;
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /no longer has this repository or commit f{40}/);
  const other = { "x-repo-commit": "e".repeat(40), etag: '"abc"', "content-length": "0" };
  hub.faults.push({ path: /README/, times: 2, as: { status: 200, headers: other } });
  assert.match((await start().ended).stderr, /the hub answered commit e{40}, not/);
  hub.faults.splice(0, 9, {
    path: /resolve/,
    times: 2,
    as: { status: 429, headers: { "retry-after": "0" } },
  });
  const said = await start().ended;
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stdout, /README\.md: 429; again in 0 s/);
});

test("the runner's own folder keeps no downloaded file, and the files have one name", async (t) => {
  const { start, home, output } = await lab(t);
  assert.equal((await start({ MLRB_HUB_OWN: "1" }).ended).code, 0);
  assert.equal(bytesBelow(join(home, "hub"), ".parquet"), 0);
  assert.equal(statSync(join(output, "data/train.parquet")).nlink, 1);
});

test("an ETag, a commit or a link that leaves the client's folder writes and removes nothing outside", async (t) => {
  const { hub, start, home, locked } = await lab(t);
  const [above, token] = [dirname(home), join(home, "token")];
  mkdirSync(home);
  writeFileSync(token, "hf_mine");
  const unharmed = () => {
    assert.deepEqual(readdirSync(above), ["home"]);
    assert.equal(readFileSync(token, "utf8"), "hf_mine");
  };
  const good = { "x-repo-commit": locked.revision, "content-length": "7" };
  const gone = { "x-error-code": "EntryNotFound", "x-repo-commit": "../../../../evil" };
  const answers: [number, Record<string, string>, RegExp][] = [
    [
      200,
      { ...good, etag: '"../../../../evil"' },
      /the ETag "\.\.\/\.\.\/\.\.\/\.\.\/evil", not a file's hash/,
    ],
    [200, { ...good, "x-linked-etag": '"../../../token"' }, /the ETag "\.\.\/\.\.\/\.\.\/token", not/],
    [404, gone, /the hub answered commit \.\.\/\.\.\/\.\.\/\.\.\/evil, not/],
  ];
  for (const [status, headers, words] of answers) {
    hub.faults.splice(0, 9, { path: /README/, times: 1, as: { status, headers } });
    const said = await start().ended;
    unharmed();
    assert.equal(said.code, 1);
    assert.match(said.stderr, words);
  }
  const snapshot = join(home, "hub/datasets--org--texts/snapshots", locked.revision);
  mkdirSync(snapshot, { recursive: true });
  symlinkSync(token, join(snapshot, "README.md"));
  const said = await start().ended;
  unharmed();
  assert.match(said.stderr, /README\.md is a link to .*token, outside the client's folder/);
});
