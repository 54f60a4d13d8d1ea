// An agent in bubblewrap runs `check-submission` in its workspace, on a good folder and on bad ones.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { submissionCheck } from "@mlrb/agents/attempt/submission-check";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { attemptStage } from "./support/attempts/attempt-stages.ts";
import {
  type Answer,
  answersOf,
  attempt,
  environment,
  outcome,
  outcomes,
  spoiled,
} from "./support/attempts/check-attempt.ts";
import { recordsIn } from "./support/end-state.ts";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = resolve(import.meta.dirname, "..");
const skip = (await bubblewrapMissing()) ?? false;

test("in bubblewrap the program tells good folders from bad ones, as validation and the load do", {
  skip,
  timeout: 450_000,
}, async (t) => {
  const answers = await answersOf(t, Object.keys(spoiled) as (keyof typeof spoiled)[]);
  assert.deepEqual(
    Object.fromEntries([...answers].map(([name, answer]) => [name, outcome(answer)])),
    outcomes,
    JSON.stringify([...answers]),
  );
  assert.match(answers.get("masked-model")!.checks[0]!.detail, /^not-scorable: /);
  assert.deepEqual(
    answers.get("good")!.checks.map(({ check }) => check),
    ["admission", "load", "model", "look-ahead"],
  );
});

test("inside, the program shows its own code and nothing else of the repository, and misuse has its own status", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const said = await attempt(
    t,
    `find ${repository} -maxdepth 4 -not -path '*/node_modules/*'; echo "==="; ./check-submission a b 2>&1; echo "rc=$?"; ./check-submission; echo "rc=$?"`,
  );
  const [seen, rest] = said.split("===\n");
  assert.ok(seen !== undefined && rest !== undefined, said);
  const shown = seen
    .trim()
    .split("\n")
    .map((path) => path.slice(repository.length + 1));
  assert.ok(shown.includes("runners/kit/src"), seen);
  const allowed =
    /^(|runners|node_modules|scorers|scorers\/library)$|^runners\/(kit|formats)|^scorers\/library\//;
  // the agent's environment may be built in the repository
  const isEnvironment = (path: string) =>
    environment.some(
      (folder) =>
        folder.startsWith(join(repository, path)) || join(repository, path).startsWith(`${folder}/`),
    );
  assert.deepEqual(
    shown.filter((path) => !allowed.test(path) && !isEnvironment(path)),
    [],
  );
  for (const folder of readdirSync(join(repository, "tasks"))) assert.ok(!shown.includes(`tasks/${folder}`));
  assert.match(rest, /one folder at most, got 2[\s\S]*rc=2\n/);
  assert.match(rest, /fail admission: empty: [\s\S]*rc=1\n$/);
});

// no text below is in this file, nor in the agent's program, as the pipeline has it
const [privateText, publicText] = ["PRIVATE", "PUBLIC"].map((word) => `${word}-text-of-the-data`);
const secret = `SECRET-${"of-the-state-folder-here-".padEnd(25, "x")}`;

const search = `
cd "$(dirname "$MLRB_SUBMISSION")"
texts() { for word in PRIVATE PUBLIC; do echo "$word-text-of-the-data"; done; echo "SECRET""-of-the-state"; }
texts | grep -rlsF -f - / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr > "$TMPDIR/found"
cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2> "$TMPDIR/errors" | tr '\\0' '\\n' > "$TMPDIR/processes"
./check-submission "$(dirname "$0")/model" --json > "$TMPDIR/said"
cp "$TMPDIR/found" "$TMPDIR/processes" "$TMPDIR/said" "$MLRB_SUBMISSION"
find / -path '*/runners/kit/src/*' -name 'admit-submission.ts' 2> "$TMPDIR/errors" > "$MLRB_SUBMISSION/code"
`;

test("in an attempt of a pipeline, nothing that can be read holds private text or the secret of the state folder", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const copy = throwAwayRepository();
  t.after(() => copy.remove());
  const at = lab(t, copy, { root: copy.path });
  copy.write(".mlrb/secret", secret);
  assert.equal(secret.length, 32);
  at.script("program/agent.sh", search);
  writeCase(join(copy.path, at.name, "program"), { name: "model", codes: [], make: () => undefined });
  const [program, prompt] = [`${at.name}/program`, at.script("prompt.md", "Until {{deadline}}.\n")];
  at.define({
    axes: { task: ["empty"], agent: ["searches"], seed: [1] },
    stages: {
      data: {
        each: ["task"],
        command: `echo ${publicText} > {outputs.public}/a; echo ${privateText} > {outputs.private}/a`,
        gives: { public: "dir", private: { dir: true, private: true } },
      },
      attempt: attemptStage({
        params: { kind: "command", command: ["sh", "./agent.sh"], program, trusted: false, prompt },
        files: [`${program}/**`, prompt],
      }),
    },
  });
  const said = await at.run("--weak-limits");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const [held] = recordsIn(at.root);
  const read = (file: string) =>
    readFileSync(join(at.root, ".mlrb/attempts/records", held!.digest, "submission", file), "utf8");
  assert.equal(read("found"), "/attempt/workspace/data/a\n");
  assert.match(read("code"), /admit-submission\.ts\n$/);
  assert.match(read("processes"), /MLRB_SUBMISSION=/);
  const checked: Answer = JSON.parse(read("said"));
  assert.deepEqual(
    checked.checks.map(({ check, answer }) => `${answer} ${check}`),
    ["pass admission", "undecided load"],
  );
  for (const file of ["processes", "said"])
    for (const text of [privateText!, "SECRET-of"]) assert.ok(!read(file).includes(text), file);
});

test("without a Python that can be started the model is undecided, and a broken folder still fails", () => {
  const folder = mkdtempSync(join(tmpdir(), "check-submission-"));
  try {
    const { folder: good } = writeCase(folder, { name: "good", codes: [], make: () => undefined });
    const check = submissionCheck(repository, "scorer_library.check_submission", { folders: [] });
    const script = join(folder, "check");
    writeFileSync(script, check.script({ seenAs: (path) => join(folder, path) }, "/nowhere/python"));
    const run = () => spawnSync("sh", [script, good], { encoding: "utf8" });
    const whole = run();
    assert.equal(whole.status, 0, whole.stderr);
    assert.match(whole.stdout, /^pass admission: .*\nundecided later checks: Python cannot be started: /);
    writeFileSync(join(good, "config.json"), "{");
    assert.equal(run().status, 1);
  } finally {
    removeFolder(folder);
  }
});
