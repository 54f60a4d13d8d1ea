// An agent in bubblewrap runs `check-submission` in its workspace, on a good folder and on bad ones.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { runAttempt } from "@mlrb/agents/attempt/run-attempt";
import { submissionCheck } from "@mlrb/agents/attempt/submission-check";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../scorers/testing/submissions.ts";
import { attemptStage } from "./support/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = resolve(import.meta.dirname, "..");
const skip = (await bubblewrapMissing()) ?? false;
const python = testPython();
/** The environment's folder and its interpreter's. */
const environment = execFileSync(
  python,
  ["-c", "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"],
  {
    encoding: "utf8",
  },
)
  .trim()
  .split("\n");
const env = { ...process.env, PYTHONPATH: pythonPath(repository), PYTHONDONTWRITEBYTECODE: "1" };

type Check = { check: string; answer: string; detail: string };
type Answer = { rc: number; checks: Check[] };

/** How an agent spoils the good folder `bad`, as shell commands. */
const spoiled = {
  good: "touch bad/training_args.bin; mkdir bad/checkpoint-5; touch bad/checkpoint-5/optimizer.pt",
  "broken-json": `printf '{"a":' > bad/config.json`,
  "no-tokenizer": "rm bad/tokenizer.json",
  "encoder-decoder": `sed -i 's/"model_type": *"gpt2"/"model_type": "t5"/' bad/config.json`,
  link: "mv bad/model.safetensors kept; ln -s ../kept bad/model.safetensors",
  pipe: "rm bad/config.json; mkfifo bad/config.json",
  empty: "rm -r bad; mkdir bad",
  "missing-layers": `sed -i 's/"n_layer": *1/"n_layer": 2/' bad/config.json`,
} as const;

/** Runs `script` as an agent's program; its output. `data/good` is a small model. */
async function attempt(t: TestContext, script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "check-submission-"));
  t.after(async () => {
    await removeDiskImages(folder);
    removeFolder(folder);
  });
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "program", "scratch", "submission"]) mkdirSync(at(name));
  const texts = Array.from(
    { length: 40 },
    (_, n) => `The ferry ${n} left the harbour at seven, and it rained.`,
  );
  writeFileSync(at("data/train.jsonl"), texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  const make =
    "import sys; from pathlib import Path; from scorer_library.random_gpt2 import write_random_gpt2 as w; " +
    "from scorer_library.ngram import train_bpe as b; " +
    "w(Path(sys.argv[1]), b(Path(sys.argv[2]).read_text().split('\\n')), seed=0, width=32, layers=1)";
  execFileSync(python, ["-c", make, at("data/good"), at("data/train.jsonl")], { env });
  writeFileSync(at("program/agent.sh"), script);
  const check = submissionCheck(repository, "scorer_library.check_submission");
  const sandbox = await chooseSandbox(
    {
      ...{ executor: "local", network: "none", gpus: [], token: `checktest${process.pid}` },
      ...{ reads: environment, weakLimits: true, unsafe: false },
      limits: { memoryBytes: 4 * 2 ** 30, processes: 128, diskBytes: 2 ** 28, cpus: 1 },
    },
    {
      ...{ under: at("work"), agent: "test", trusted: false, alsoReads: check.reads },
      containers: () => assert.fail("no container was asked for"),
    },
  );
  t.after(() => sandbox.close());
  await runAttempt(sandbox, {
    ...{ task: "t", agent: "test", seed: 1, kind: "command", command: ["sh", "./agent.sh"], python, check },
    ...{ program: at("program"), prompt: "", publicData: at("data"), budget: { timeMs: 400_000 } },
    outputs: {
      ...{ submission: at("submission"), trajectory: at("trajectory.jsonl") },
      ...{ ledger: at("ledger.json"), snapshots: at("snapshots") },
    },
    ...{ scratch: at("scratch"), limits: { bytesMax: 1 << 28, filesMax: 100 } },
  });
  const events = readFileSync(at("trajectory.jsonl"), "utf8").trimEnd().split("\n");
  const said = events.map((line) => JSON.parse(line)).filter(({ event }) => event === "output");
  return said.map(({ text }) => text).join("");
}

/** The first failed check of `name`, or "pass". */
function outcome({ rc, checks }: Answer): string {
  assert.equal(rc, checks.some(({ answer }) => answer === "fail") ? 1 : 0);
  return checks.find(({ answer }) => answer !== "pass")?.check ?? "pass";
}

test("in bubblewrap the program tells good folders from bad ones, as validation and the load do", {
  skip,
  timeout: 450_000,
}, async (t) => {
  const each = Object.entries(spoiled).map(
    ([name, spoil]) =>
      `rm -rf bad kept; cp -r data/good bad; chmod -R u+w bad; ${spoil}; echo "@${name}"; ./check-submission bad --json; echo "rc=$?"`,
  );
  const said = await attempt(t, each.join("\n"));
  const answers = new Map(
    said
      .split("@")
      .slice(1)
      .map((part): [string, Answer] => {
        const [name, json, rc] = part.split("\n");
        assert.match(json ?? "", /^\{/, said);
        return [name!, { ...(JSON.parse(json!) as Answer), rc: Number(rc!.slice(3)) }];
      }),
  );
  assert.deepEqual(
    Object.fromEntries([...answers].map(([name, answer]) => [name, outcome(answer)])),
    {
      ...{ good: "pass", "broken-json": "admission", "no-tokenizer": "admission" },
      ...{ "encoder-decoder": "admission", link: "admission", pipe: "admission", empty: "admission" },
      "missing-layers": "model",
    },
    said,
  );
  assert.match(answers.get("encoder-decoder")!.checks[0]!.detail, /^not-scorable: /);
  assert.deepEqual(
    answers.get("good")!.checks.map(({ check }) => check),
    ["admission", "load", "model", "look-ahead"],
  );
});

test("inside, the program shows its own code and nothing else of the repository, and misuse has its own status", {
  skip,
  timeout: 60_000,
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
    /^(|runners|node_modules|scorers|scorers\/library)$|^runners\/(kit|formats)|^scorers\/library\/scorer_library/;
  assert.deepEqual(
    shown.filter((path) => !allowed.test(path)),
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
  timeout: 180_000,
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

test("without a Python that has torch the model is undecided, and a broken folder still fails", () => {
  const folder = mkdtempSync(join(tmpdir(), "check-submission-"));
  try {
    const made = spawnSync(
      python,
      [
        "-c",
        "import sys; from pathlib import Path; from scorer_library.random_gpt2 import write_random_gpt2 as w; from scorer_library.ngram import train_bpe as b; w(Path(sys.argv[1]), b(['a b c']), seed=0, width=32, layers=1)",
        join(folder, "good"),
      ],
      { env, encoding: "utf8" },
    );
    assert.equal(made.status, 0, made.stderr);
    const check = submissionCheck(repository, "scorer_library.check_submission");
    const run = (...args: string[]) => {
      writeFileSync(
        join(folder, "check"),
        check.script({ seenAs: (path) => join(folder, path) }, "/nowhere/python"),
      );
      return spawnSync("sh", [join(folder, "check"), ...args], { encoding: "utf8" });
    };
    const good = run(join(folder, "good"));
    assert.equal(good.status, 0, good.stderr);
    assert.match(good.stdout, /^pass admission: .*\nundecided later checks: Python cannot be started: /);
    writeFileSync(join(folder, "good/config.json"), "{");
    assert.equal(run(join(folder, "good")).status, 1);
  } finally {
    removeFolder(folder);
  }
});
