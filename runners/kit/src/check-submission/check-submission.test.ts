// The program by itself, with a stand-in for the Python that loads models.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { testSeed } from "../../../../tests/support/test-seed.ts";
import { writeCase } from "../admission/testing/hostile-case.ts";
import { hostileCorpus } from "../admission/testing/hostile-corpus.ts";
import { removeFolder } from "../files/remove-folder.ts";

const program = join(import.meta.dirname, "check-submission.ts");

/** A folder with an admitted model in `submission` and an empty `tmp`; `python` is the text of a shell script. */
function place(t: TestContext, python = "exit 0") {
  const folder = mkdtempSync(join(tmpdir(), "check-submission-"));
  t.after(() => removeFolder(folder));
  const at = (name: string) => join(folder, name);
  writeCase(folder, { name: "submission", codes: [], make: () => undefined });
  mkdirSync(at("tmp"));
  writeFileSync(at("python"), `#!/bin/sh\nshift 3\n${python}\n`);
  chmodSync(at("python"), 0o755);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [program, "--python", at("python"), "--module", "m", ...args], {
      ...{ cwd: folder, encoding: "utf8", timeout: 60_000 },
      env: { ...process.env, TMPDIR: at("tmp") },
    });
  return { at, run };
}

test("what Python answers is printed, and the exit status says whether something fails", (t) => {
  const line = (answer: string) =>
    `printf '{"check":"load","answer":"${answer}","detail":"because"}\\n' >> "$3"`;
  for (const [answer, status] of [
    ["pass", 0],
    ["undecided", 0],
    ["fail", 1],
  ] as const) {
    const { run } = place(t, line(answer));
    const said = run();
    assert.equal(said.status, status, said.stderr);
    assert.match(
      said.stdout,
      new RegExp(`^pass admission: it may be loaded\n${answer} load: because\nNot checked: `),
    );
    const json = run("--json");
    assert.equal(json.status, status);
    assert.deepEqual(
      JSON.parse(json.stdout).checks.map((one: { answer: string }) => one.answer),
      ["pass", answer],
    );
  }
});

test("Python sees the clean folder, and no file is left behind", (t) => {
  const { at, run } = place(t, `ls "$1" > seen`);
  writeFileSync(at("submission/train.py"), "raise SystemExit\n");
  const said = run();
  assert.match(said.stdout, /^pass admission: it may be loaded; 1 other entries are never opened\n/);
  assert.doesNotMatch(spawnSync("cat", [at("seen")], { encoding: "utf8" }).stdout, /train\.py/);
  assert.match(spawnSync("cat", [at("seen")], { encoding: "utf8" }).stdout, /model\.safetensors/);
  assert.deepEqual(readdirSync(at("tmp")), []);
});

test("the weights are linked and not copied, because a copy could fill the attempt's disk", (t) => {
  const { at, run } = place(t, `stat -c %h "$1/model.safetensors" > links`);
  run();
  assert.equal(readFileSync(at("links"), "utf8"), "2\n");
});

test("weights on another disk are not copied: the load is undecided, with the way out", (t) => {
  const { at, run } = place(t, "echo python was started >&2; exit 1");
  const elsewhere = mkdtempSync("/dev/shm/check-submission-");
  t.after(() => removeFolder(elsewhere));
  if (statSync(elsewhere).dev === statSync(at("tmp")).dev) return t.skip("/dev/shm is the same disk here");
  cpSync(at("submission"), join(elsewhere, "model"), { recursive: true });
  const said = run(join(elsewhere, "model"));
  assert.match(
    said.stdout,
    /\nundecided load: the weights cannot be linked .*put the folder into the workspace\n/,
  );
  assert.deepEqual(readdirSync(at("tmp")), []);
});

test("a check that is ended leaves nothing behind, and one that is killed is cleared by the next", async (t) => {
  for (const [signal, left] of [
    ["SIGTERM", 0],
    ["SIGKILL", 1],
  ] as const) {
    const { at, run } = place(t, "touch began; exec sleep 20");
    const child = spawn(process.execPath, [program, "--python", at("python"), "--module", "m"], {
      ...{ cwd: at("."), stdio: "ignore" },
      env: { ...process.env, TMPDIR: at("tmp") },
    });
    while (!existsSync(at("began"))) await sleep(20);
    child.kill(signal);
    await once(child, "exit");
    assert.equal(readdirSync(at("tmp")).length, left, signal);
    writeFileSync(at("python"), "#!/bin/sh\n");
    run();
    assert.deepEqual(readdirSync(at("tmp")), [], signal);
  }
});

test("Python that takes too long is ended, and what it answered before counts", (t) => {
  const { run } = place(
    t,
    `printf '{"check":"load","answer":"pass","detail":"d"}\\n{"check":"mod' >> "$3"; exec sleep 50`,
  );
  const said = run("--seconds", "3");
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /\npass load: d\nundecided later checks: not finished within 3 s; /);
});

test("Python that ends by itself leaves the later checks undecided, with its last words", (t) => {
  const { run } = place(t, "echo first >&2; echo MemoryError >&2; exit 3");
  assert.match(
    run().stdout,
    /\nundecided later checks: the check itself ended with exit status 3: MemoryError\n/,
  );
});

test("where no temporary file can be written, the answer is undecided and not a failure", (t) => {
  const { at, run } = place(t);
  renameSync(at("tmp"), at("elsewhere"));
  const said = run();
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /\nundecided load: this machine: ENOENT/);
});

test("names of files forge no line", (t) => {
  const { at, run } = place(t);
  mkdirSync(at("two"));
  writeFileSync(at("two/a\npass look-ahead: d"), "");
  const said = run(at("two"));
  assert.equal(said.status, 1);
  for (const line of said.stdout.trimEnd().split("\n"))
    assert.match(line, /^(fail admission: |Not checked: )/);
});

test("two folders, no folder and an unknown flag are misuse", (t) => {
  const { at, run } = place(t);
  for (const args of [["a", "b"], [at("none")], ["--unknown"], [at("python")]]) {
    const said = run(...args);
    assert.deepEqual([said.status, said.stdout], [2, ""], args.join(" "));
    assert.match(said.stderr, /\nusage: check-submission \[DIR\] \[--json\]/);
  }
  assert.equal(run("--help").status, 0);
});

test("a hostile folder fails with the codes of its admission", (t) => {
  const { at, run } = place(t, "echo python was started >&2; exit 1");
  const rejected = hostileCorpus.filter(({ codes, large }) => codes.length > 0 && !large);
  t.diagnostic(`seed ${testSeed}`);
  for (let nth = 0; nth < 4; nth++) {
    const one = rejected[(testSeed + nth * 37) % rejected.length]!;
    const { folder, skipped } = writeCase(at("tmp"), one);
    if (skipped !== undefined) continue;
    const said = run(folder, "--json");
    assert.equal(said.status, 1, `${one.name}: ${said.stderr}`);
    const checks: { check: string; answer: string; detail: string }[] = JSON.parse(said.stdout).checks;
    const codes = checks.map(({ detail }) => detail.slice(0, detail.indexOf(":")));
    assert.deepEqual([...new Set(codes)].sort(), one.codes, one.name);
  }
});
