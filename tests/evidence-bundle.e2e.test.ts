// An evidence bundle: the report is rebuilt from it elsewhere byte for byte, a changed byte is named, and planted
// private rows and keys are not in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { noSshKeygen, signingKeys } from "@mlrb/local/testing/signing-keys";
import { filesBelow, type Lab, lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const row = "the secret question is forty-two";
const key = "acme-5up3r/s3cret+value";
const token = "hf_QwErTyUiOpAsDfGhJkLzXc";

const axes = ["task", "agent", "seed"];
const verdict = { formatVersion: 1, kind: "pass", rules: [], facts: {} };
const score = {
  ...{ formatVersion: 1, scorer: "quality", version: 1, unit: "share", direction: "higher", kind: "scored" },
  ...{ value: 0.5, standardError: 0.1, items: 4, groups: {}, extra: {} },
};
const samples = [1, 0, 1, 0].map((value, at) => ({
  id: `${row} ${at}`,
  group: `${row} group`,
  value,
  weight: 1,
}));
const events = [
  { event: "start", text: "begin" },
  { event: "output", stream: "stdout", text: `export ACME_KEY=${key}; echo ${token}` },
];

let at: Lab;
let file: string;
const cleanups: (() => void)[] = [];
after(() => {
  for (const one of cleanups) one();
});

/** An attempt with private rows in logs and samples, and keys in its trajectory. */
before(async () => {
  at = lab({ after: (fn: () => void) => cleanups.push(fn) } as never, repository);
  const texts = {
    rows: `${row}\n`,
    "verdict.json": JSON.stringify(verdict),
    "score.json": JSON.stringify(score),
    "samples.jsonl": samples.map((one) => `${JSON.stringify(one)}\n`).join(""),
    "trajectory.jsonl": events
      .map((one, index) => `${JSON.stringify({ formatVersion: 1, index, sinceStartMs: index, ...one })}\n`)
      .join(""),
  };
  for (const [name, text] of Object.entries(texts)) at.script(name, text);
  const copy = (file: string, output: string) => `cp ${at.name}/${file} {outputs.${output}}`;
  at.define({
    axes: { task: ["baby-lm"], agent: ["nop"], seed: [1], scorer: ["quality"] },
    stages: {
      data: {
        files: [`${at.name}/rows`], // commands are on the page
        command: `cat ${at.name}/rows; cp ${at.name}/rows {outputs.rows}/rows`,
        gives: { rows: { dir: true, private: true } },
      },
      attempt: {
        ...{ role: "attempt", each: axes, durable: true, files: [`${at.name}/trajectory.jsonl`] },
        command: `echo made > {outputs.submission}/model; ${copy("trajectory.jsonl", "trajectory")}; echo '{}' > {outputs.ledger}`,
        gives: { submission: "dir", trajectory: "file", ledger: "file" },
      },
      validate: {
        ...{ role: "verdict", each: axes, needs: ["attempt.submission"], files: [`${at.name}/verdict.json`] },
        ...{ command: copy("verdict.json", "verdict"), gives: { verdict: "file" } },
      },
      score: {
        ...{ role: "score", each: [...axes, "scorer"], needs: ["attempt.submission", "data.rows"] },
        files: [`${at.name}/score.json`, `${at.name}/samples.jsonl`],
        command: `cat {inputs.rows}/rows; ${copy("score.json", "score")}; ${copy("samples.jsonl", "samples")}`,
        gives: { score: "file", samples: "file" },
      },
      report: {
        collect: [
          ...[
            "score.score",
            "score.samples",
            "validate.verdict",
            "digest(attempt.submission)",
            "attempt.ledger",
          ],
        ],
        roles: ["attempt", "verdict", "score"],
        script: "pipelines/steps/report.ts",
        params: {
          ...{ title: "Bundled", label: "test", tasks: { "baby-lm": "Baby" }, agents: { nop: "Nothing" } },
          ...{ primary: { "baby-lm": "quality" }, baselines: { "baby-lm": { quality: 0.1 } } },
          ...{ scorers: { quality: "quality" }, units: { quality: "share" } },
          ...{ directions: { quality: "higher" }, digits: { quality: 2 } },
        },
        gives: { report: "dir" },
      },
    },
  });
  const said = await at.pipeline(["run", at.name, "--root", at.root], { env: { ACME_KEY: key } });
  assert.equal(said.code, 0, said.stdout + said.stderr);
  file = join(at.outside, "evidence.zip");
  const written = await write(file, { ACME_KEY: key });
  assert.equal(written.code, 0, written.stdout + written.stderr);
  assert.match(written.stdout, /wrote .*evidence\.zip: \d+ files, .*; no weights and no data\nunsigned: /);
});

const write = (file: string, env: Record<string, string>, ...more: string[]) =>
  at.pipeline(["report", at.name, "--root", at.root, "--bundle", file, ...more], { env });
const resultsOf = () => {
  const results = join(at.root, "results", at.name);
  return join(results, readdirSync(results)[0]!);
};
const from = (file: string, ...more: string[]) =>
  at.pipeline(["report", "--from", file, "--root", join(at.outside, "elsewhere"), ...more], {
    env: { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", USER: "eve", COLUMNS: "40" },
  });

test("the report is rebuilt elsewhere byte for byte, and the bundle has the same bytes for another user and place", async () => {
  const again = join(at.outside, "again.zip");
  const env = { ACME_KEY: key, TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", USER: "eve" };
  const { code, lines } = await write(again, env, "--json");
  assert.equal(code, 0);
  assert.deepEqual(
    lines.map(({ event, path, signed, age }) => [event, path, signed, age]),
    [["bundle", again, false, "current"]],
  );
  assert.ok(readFileSync(file).equals(readFileSync(again)), "other bytes");

  const to = join(at.outside, "rebuilt");
  const rebuilt = await from(file, "--output", to);
  assert.equal(rebuilt.code, 0, rebuilt.stdout + rebuilt.stderr);
  assert.match(rebuilt.stdout, /Bundled/);
  assert.match(rebuilt.stdout, /rebuilt \d+ files in .*, byte for byte as in the bundle/);
  const here = filesBelow(resultsOf());
  const there = filesBelow(to);
  assert.deepEqual(Object.keys(there), Object.keys(here));
  for (const [name, bytes] of Object.entries(here))
    if (name !== "report.html") assert.equal(there[name], bytes, name);
  assert.match(there["report.html"]!, /score\[task=baby-lm/);
  assert.match(there["report.html"]!, /begin/);
  assert.match((await from(file, "--output", to)).stderr, /^exists: /);
});

test("planted private rows and keys are in no byte of a bundle", async () => {
  const bytes = readFileSync(file).toString("latin1");
  for (const planted of [row, "forty-two", key, token, Buffer.from(key).toString("base64").slice(0, 20)])
    assert.ok(!bytes.includes(planted), planted);
  for (const place of [at.root, repository.path, tmpdir()]) assert.ok(!bytes.includes(place), place);
  for (const present of ["[redacted ACME_KEY]", "[redacted key]", '"what": "row-ids"', "journals/", "locks/"])
    assert.ok(bytes.includes(present), present);
  const page = JSON.parse(/\{\n "attempts": \[[\s\S]*?\n\}\n/.exec(bytes)![0]);
  assert.ok(page.instances.length > 0);
});

test("a flipped byte is named with its file, and nothing is rebuilt from the bundle", async () => {
  const flipped = join(at.outside, "flipped.zip");
  const bytes = readFileSync(file);
  const place = bytes.indexOf("task,agent,metric");
  bytes[place] = bytes[place]! ^ 1;
  writeFileSync(flipped, bytes);
  const to = join(at.outside, "from-flipped");
  const said = await from(flipped, "--output", to);
  assert.equal(said.code, 1);
  assert.match(
    said.stderr,
    /^changed: data\/results\/\w+\.csv: its SHA-256 is not that in manifest-sha256\.txt$/m,
  );
  assert.match(said.stderr, /^changed-bundle: .*\n {2}help: get the bundle again/m);
  assert.ok(!existsSync(to));
});

test("a signed bundle names its signer, and a bundle signed by a stranger says so", {
  skip: noSshKeygen,
}, async (t) => {
  const keys = signingKeys(t);
  const signed = join(at.outside, "signed.zip");
  const said = await write(signed, { ACME_KEY: key }, "--sign", keys.make("alice"));
  assert.equal(said.code, 0, said.stdout + said.stderr);
  let rebuilt = 0;
  const read = () => from(signed, "--output", join(at.outside, `signed-${++rebuilt}`));
  const stranger = await read();
  assert.equal(stranger.code, 0, stranger.stderr);
  assert.match(stranger.stdout, /the signature is by the key SHA256:\S+, which .*allowed_signers/);
  const state = join(at.outside, "elsewhere/.mlrb");
  mkdirSync(state, { recursive: true });
  const signers = join(state, "allowed_signers");
  writeFileSync(signers, readFileSync(keys.allowing("alice")));
  const known = await read();
  assert.match(known.stdout, /signed by alice \(SHA256:/);
  // as docs/guide.md says
  const byHand = `printf 'mlrb evidence-bundle sha256:%s\\n' "$(sha256sum < "$1" | cut -d ' ' -f 1)" | ssh-keygen -Y verify -n mlrb -f "$2" -I alice -s "$1.sig"`;
  execFileSync("sh", ["-c", byHand, "sh", signed, signers]);
  writeFileSync(signed, Buffer.concat([readFileSync(signed), Buffer.of(0)]));
  const other = await read();
  assert.equal(other.code, 1);
  assert.match(other.stderr, /^bad-signature: /m);
  const missing = await write(join(at.outside, "no.zip"), {}, "--sign", join(keys.folder, "none"));
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^unknown-key: .*no bundle was written/m);
  for (const name of ["no.zip", "no.zip.sig"]) assert.ok(!existsSync(join(at.outside, name)));
});

test("a published submission is scored again elsewhere and compared with the bundle's report", async () => {
  const [records, files] = [join(at.outside, "records"), join(at.outside, "unpacked")];
  const exported = await at.pipeline(["attempts", "export", records, "--root", at.root]);
  assert.equal(exported.code, 0, exported.stderr);
  execFileSync("unzip", ["-q", file, "-d", files]);
  const record = join(records, readdirSync(records).find((name) => name.length === 64)!);
  const rescore = (root: string, ...more: string[]) => {
    const named = ["--pipeline", at.name, "--task", "baby-lm", "--root", join(at.outside, root)];
    const report = join(files, "evidence/data/results/report.json");
    return at.pipeline(["score", join(record, "submission"), ...named, "--expect", report, ...more], {
      env: { ACME_KEY: key },
    });
  };
  const fresh = await rescore("fresh");
  assert.equal(fresh.code, 0, fresh.stdout + fresh.stderr);
  assert.match(fresh.stdout, /\n\nExpected of nop, seed 1:\n {2}quality: 0\.5, equal\n$/);

  at.script("score.json", JSON.stringify({ ...score, value: 0.25 }));
  const other = await rescore("other");
  at.script("score.json", JSON.stringify(score));
  assert.equal(other.code, 1);
  assert.match(other.stdout, /^ {2}quality: 0\.5 expected, 0\.25 now \(-0\.25\): different$/m);

  writeFileSync(join(record, "submission/model"), "made better\n");
  const { code, stderr, lines } = await rescore("fresh", "--json");
  assert.equal(code, 2);
  assert.match(stderr, /other-submission: .*their digest is [0-9a-f]{64}/);
  assert.equal(lines.at(-1)!.code, "other-submission");
  const none = await rescore("fresh", "--expect", join(records, "none.json"));
  assert.equal(none.code, 2);
  assert.match(none.stderr, /no-report: .*none\.json: there is no such file/);
});

test("no bundle is written if removing a key would change the report", async () => {
  const to = join(at.outside, "other.zip");
  const said = await write(to, { OTHER_KEY: "Bundled" }); // the report's title
  assert.equal(said.code, 1);
  assert.match(said.stderr, /^not-rebuilt: .*report\.json.*\n {2}help: a key that was removed/m);
  assert.ok(!existsSync(to));
});

test("words that do not belong together, and results without evidence, are refused with the way out", async () => {
  const refused = async (args: string[], code: number, words: RegExp) => {
    const said = await at.pipeline(["report", ...args, "--root", at.root]);
    assert.equal(said.code, code, said.stdout + said.stderr);
    assert.match(said.stderr, words);
  };
  await refused([], 2, /^no-pipeline: [\s\S]*help: /);
  await refused([at.name, "--from", "x.zip"], 2, /^two-reports: [\s\S]*help: /);
  await refused([at.name, "--output", "x"], 2, /^no-bundle: --output needs --from FILE\n {2}help: /);
  await refused([at.name, "--sign", "k"], 2, /^no-bundle: --sign needs --bundle FILE\n {2}help: /);
  await refused(["--from", join(at.outside, "none.zip")], 1, /^no-bundle: there is no file .*\n {2}help: /);
  const text = join(at.outside, "text.zip");
  writeFileSync(text, "no archive");
  await refused(["--from", text], 1, /^changed: the archive cannot be read [\s\S]*^changed-bundle: /m);
});

test("after a run with --set, the bundle of the whole plan holds the whole plan, or is refused", async () => {
  const narrowed = await at.pipeline(["run", at.name, "--set", "seed=2", "--root", at.root]);
  assert.equal(narrowed.code, 0, narrowed.stdout + narrowed.stderr);
  const whole = join(at.outside, "whole.zip");
  const written = await write(whole, { ACME_KEY: key });
  assert.equal(written.code, 0, written.stdout + written.stderr);
  assert.deepEqual(new Set(readFileSync(whole, "utf8").match(/"seed": \d/g)), new Set(['"seed": 1']));

  at.script("score.json", JSON.stringify({ ...score, value: 0.25 }));
  const stale = await write(join(at.outside, "stale.zip"), { ACME_KEY: key });
  at.script("score.json", JSON.stringify(score));
  assert.equal(stale.code, 1);
  assert.match(stale.stderr, /^no-evidence: .*\/\S+ is not the file that report made last\n {2}help: /m);
});
