// A protocol is frozen before the first attempt, and the report lists every departure from it, also elsewhere from
// a bundle.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { filesBelow, type Lab, lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const cleanups: (() => void)[] = [];
after(() => {
  for (const one of cleanups) one();
  repository.remove();
});

const axes = ["task", "agent", "seed"];
const verdict = { formatVersion: 1, kind: "pass", rules: [], facts: {} };
const scoreText = (value: number) =>
  JSON.stringify({
    ...{ formatVersion: 1, scorer: "quality", version: 1, unit: "share", direction: "higher" },
    ...{ kind: "scored", value, standardError: 0.1, items: 4, groups: {}, extra: {} },
  });

const attemptScript = `import { readFileSync, writeFileSync } from "node:fs";
const { axes, outputs } = JSON.parse(readFileSync(process.env.MLRB_STAGE!, "utf8"));
writeFileSync(outputs.submission, String(axes.seed));
writeFileSync(outputs.ledger, "{}");
`;

let at: Lab;
let file: string;

before(() => {
  at = lab({ after: (fn: () => void) => cleanups.push(fn) } as never, repository);
  at.script("verdict.json", JSON.stringify(verdict));
  at.script("score.json", scoreText(0.5));
  const copy = (name: string, output: string) => `cp ${at.name}/${name} {outputs.${output}}`;
  at.define({
    axes: { task: ["baby-lm"], agent: ["nop"], seed: [1, 2], scorer: ["quality"] },
    stages: {
      attempt: {
        ...{ role: "attempt", each: axes, durable: true },
        script: at.script("attempt.ts", attemptScript), // its harness is in no key, and is frozen too
        gives: { submission: "file", ledger: "file" },
      },
      validate: {
        ...{ role: "verdict", each: axes, needs: ["attempt.submission"], files: [`${at.name}/verdict.json`] },
        ...{ command: copy("verdict.json", "verdict"), gives: { verdict: "file" } },
      },
      score: {
        ...{ role: "score", each: [...axes, "scorer"], needs: ["attempt.submission"] },
        ...{ files: [`${at.name}/score.json`], command: copy("score.json", "score") },
        gives: { score: "file" },
      },
      report: {
        collect: ["score.score", "validate.verdict", "digest(attempt.submission)", "attempt.ledger"],
        roles: ["attempt", "verdict", "score"],
        script: "pipelines/steps/report.ts",
        params: {
          ...{ title: "Frozen", label: "test", tasks: { "baby-lm": "Baby" }, agents: { nop: "Nothing" } },
          ...{ primary: { "baby-lm": "quality" }, baselines: { "baby-lm": { quality: 0.1 } } },
          ...{ scorers: { quality: "quality" }, units: { quality: "share" } },
          ...{ directions: { quality: "higher" }, digits: { quality: 2 } },
        },
        gives: { report: "dir" },
      },
    },
  });
  file = join(at.root, "protocols", at.name, "default.json");
});

const digestNow = () => createHash("sha256").update(readFileSync(file)).digest("hex");
const command = (...args: string[]) => at.pipeline([...args, "--root", at.root], { env: { COLUMNS: "400" } });

/** Runs, then reports; the departures. */
async function departures(...more: string[]) {
  const ran = await command("run", at.name, ...more);
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  const { lines, stderr } = await command("report", at.name, "--json", ...more);
  assert.equal(lines.length, 1, stderr);
  const { protocol } = lines[0]!;
  return protocol.departures.map((one: Record<string, string>) =>
    [one.kind, one.where, one.primary, one.what].join(" | "),
  );
}

test("a protocol is frozen before anything ran, and only once", async () => {
  const frozen = await command("protocol", "freeze", at.name);
  assert.equal(frozen.code, 0, frozen.stdout + frozen.stderr);
  assert.match(frozen.stdout, /`\S.*pipeline report \S+ --profile default` lists every departure/);
  assert.match(frozen.stdout, /2 attempts of 1 task; digest [0-9a-f]{64}\n {2}no attempt had been started\n/);
  assert.deepEqual(readdirSync(join(at.root, "protocols", at.name)), [file.split("/").at(-1)]);
  assert.ok(frozen.stdout.includes(digestNow()));
  assert.match(readFileSync(file, "utf8"), /"harness": "[0-9a-f]{64}"/);
  const again = await command("protocol", "freeze", at.name);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /^frozen: .* exists\n {2}help: .*move it away first/);
  const text = readFileSync(file, "utf8");
  rmSync(file);
  await command("protocol", "freeze", at.name);
  assert.equal(readFileSync(file, "utf8"), text, "the same plan has the same digest");
  const shown = await command("protocol", "show", at.name);
  assert.match(shown.stdout, /- baby-lm: quality is primary; all: quality\n/);
  assert.match(shown.stdout, /- baby-lm, nop: n 2 \(seeds 1, 2\)\n/);
});

test("a run as frozen has no departure", async () => {
  assert.deepEqual(await departures(), []);
  const { stdout } = await command("report", at.name);
  assert.match(stdout, /\nProtocol\n/);
  assert.match(
    stdout.replace(/\s+/g, " "),
    /The protocol was frozen before 2 of 2 attempts \(digest \w+\)\. Departures: none\./,
  );
});

test("a changed scorer and a seed added by --set are both listed, and --set hides no protocol", async () => {
  at.script("score.json", scoreText(0.6));
  const digest = "[0-9a-f]{10}";
  const changed = (where: string) =>
    new RegExp(
      `^changed-stage \\| ${where} \\| yes \\| score: file ${at.name}/score\\.json changed \\(${digest} → ${digest}\\)$`,
    );
  const scoreOf = (seed: number) => `score\\[task=baby-lm,agent=nop,seed=${seed},scorer=quality\\]`;
  const found = await departures("--set", "seed=1,2,3");
  assert.equal(found.length, 2, found.join("\n"));
  assert.equal(found[0], "added-attempt | baby-lm, nop | yes | seed 3 added: n 2 → 3");
  assert.match(found[1]!, changed(`${scoreOf(1)}; ${scoreOf(2)}`));
  const { stdout } = await command("report", at.name, "--set", "seed=1,2,3");
  assert.match(stdout, /seed 3 added: n 2 → 3/);
  assert.match(stdout.replace(/\s+/g, " "), /Departures: 2, of which 2 change or may change/);
  assert.match((await departures())[0]!, changed(`${scoreOf(1)}; ${scoreOf(2)}`));
});

test("the protocol and its departures are rebuilt from a bundle byte for byte", async () => {
  const bundle = join(at.outside, "evidence.zip");
  const written = await command("report", at.name, "--bundle", bundle);
  assert.equal(written.code, 0, written.stdout + written.stderr);
  const to = join(at.outside, "rebuilt");
  const rebuilt = await at.pipeline(
    ["report", "--from", bundle, "--root", join(at.outside, "elsewhere"), "--output", to],
    { env: { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8" } },
  );
  assert.equal(rebuilt.code, 0, rebuilt.stdout + rebuilt.stderr);
  assert.match(rebuilt.stdout.replace(/\s+/g, " "), /Departures: 1, of which 1 change/);
  const here = filesBelow(join(at.root, "results", at.name, "default"));
  const there = filesBelow(to);
  assert.deepEqual(Object.keys(there), Object.keys(here));
  for (const name of ["protocol.json", "protocol.tex"]) assert.equal(there[name], here[name], name);
  assert.match(here["report.html"]!, /score: file .*score\.json changed/);
  const bytes = readFileSync(bundle, "utf8");
  for (const part of [
    readFileSync(file, "utf8"),
    "**Protocol.** The protocol was frozen before 2 of 2 attempts ",
  ])
    assert.ok(bytes.includes(part));
});

test("a newer, a torn and an incomplete protocol are named with cause and way out, and the results are still printed", async () => {
  const text = readFileSync(file, "utf8");
  for (const [changed, cause] of [
    [
      text.replace('"formatVersion": 1', '"formatVersion": 2'),
      "formatVersion is 2, not 1; use the mlrb that",
    ],
    [text.slice(0, 100), "not JSON: .*; restore it from Git"],
    ["", "not JSON: .*|2 of 2 attempts started with one .*its file is gone; restore it from Git"],
    [text.replace('"arms"', '"others"'), "arms is missing; restore it from Git"],
  ] as const) {
    writeFileSync(file, changed);
    const { code, stdout } = await command("report", at.name);
    assert.equal(code, 0);
    assert.match(stdout, /Frozen \(test\)/);
    const said = new RegExp(`The protocol protocols/\\S+ cannot be used: (${cause})`);
    assert.match(stdout.replace(/\s+/g, " "), said);
    const shown = await command("protocol", "show", at.name);
    assert.match(shown.stderr, /^unreadable: .*\.json: .*\n {2}help: restore it from Git/);
  }
  writeFileSync(file, text);
});

test("a removed protocol leaves a trace, and attempts under one that was edited are counted with its digest", async () => {
  const text = readFileSync(file, "utf8");
  const old = digestNow().slice(0, 10);
  rmSync(file);
  const gone = await command("report", at.name);
  assert.match(
    gone.stdout.replace(/\s+/g, " "),
    new RegExp(`cannot be used: 2 of 2 attempts started with one \\(digest ${old}\\), and its file is gone`),
  );
  writeFileSync(file, text.replace('"text": "0.05"', '"text": "0.10"'));
  const { lines } = await command("report", at.name, "--json");
  const { departures: found, before, attempts } = lines[0]!.protocol;
  assert.deepEqual({ before, attempts }, { before: 0, attempts: 2 });
  assert.deepEqual(found.map(({ kind, what }: Record<string, string>) => `${kind} | ${what}`).slice(0, 2), [
    `other-protocol | 2 attempts started under another protocol, ${old}`,
    "changed-analysis | level: “0.10” → “0.05”",
  ]);
  const results = join(at.root, "results", at.name, "default");
  for (const name of ["protocol.json", "report.html"])
    assert.match(readFileSync(join(results, name), "utf8"), /under another protocol/, name);
  writeFileSync(file, text);
});

test("a protocol that is frozen again repeats no attempt, and the attempts before it are counted", async () => {
  const started = () => readdirSync(join(at.root, ".mlrb/attempts/records"));
  const [before, old] = [started(), digestNow().slice(0, 10)];
  rmSync(file);
  const again = await command("protocol", "freeze", at.name);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /2 attempts had been started before; the report counts those that it uses/);
  const all = [1, 2].map((seed) => `baby-lm, nop, seed ${seed}`).join("; ");
  assert.deepEqual(await departures(), [
    `other-protocol | ${all} | yes | 2 attempts started under another protocol, ${old}`,
  ]);
  assert.deepEqual(started(), before);
  const { stdout } = await command("report", at.name);
  assert.match(stdout.replace(/\s+/g, " "), /The protocol was frozen before 0 of 2 attempts/);
});

test("a pipeline without attempts and a plan without a protocol are refused with the way out", async () => {
  const shown = await command("protocol", "show", at.name, "--set", "seed=1");
  assert.equal(shown.code, 2);
  assert.match(
    shown.stderr,
    /^no-protocol: [\s\S]*help: .*protocol freeze \S+ --profile default --set seed=1\n/,
  );
  at.define({ stages: { one: { command: "echo > {outputs.x}", gives: { x: "file" } } } });
  const frozen = await command("protocol", "freeze", at.name, "--set", "none=1");
  assert.equal(frozen.code, 2);
  assert.ok(existsSync(file));
  rmSync(file);
  const none = await command("protocol", "freeze", at.name);
  assert.match(none.stderr, /^no-attempts: [\s\S]*help: /);
  assert.ok(!existsSync(file));
});
