// The result of an attempt is a record: outside the cache, complete, never changed, never made twice.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { counted, filesBelow, type Lab, lab, outcomes, reasons, results } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** data → attempt (durable) → score, and a report. */
function attempts(at: Lab, more: { data?: string; score?: string } = {}): void {
  at.define({
    axes: { seed: [1, 2] },
    stages: {
      data: {
        command: counted(at, "data", `echo ${more.data ?? "words"} > {outputs.text}`),
        gives: { text: { file: "words.txt" } },
      },
      attempt: {
        each: ["seed"],
        needs: ["data.text"],
        durable: true,
        command: counted(
          at,
          "attempt-{seed}",
          "echo trying {seed}; mkdir {outputs.all}/deep; (cat {inputs.text}; echo {seed}) > {outputs.all}/deep/model; chmod +x {outputs.all}/deep/model; echo {seed} > {outputs.log}",
        ),
        gives: { all: { dir: true }, log: { file: "trajectory.jsonl" } },
      },
      score: {
        each: ["seed"],
        needs: ["attempt.all", "attempt.log"],
        command: counted(
          at,
          "score-{seed}",
          `${more.score ?? "cat"} {inputs.all}/deep/model {inputs.log} > {outputs.value}`,
        ),
        gives: { value: "file" },
      },
      report: {
        collect: ["score.value"],
        command: 'cat "$(dirname {inputs.manifest})"/members/* > {outputs.all} || true',
        gives: { all: "file" },
      },
    },
  });
}

const records = (at: Lab) => join(at.root, ".mlrb/attempts/records");
const clean = (at: Lab) =>
  assert.deepEqual(
    readdirSync(records(at)).filter((name) => !/^[0-9a-f]{64}$/.test(name)),
    [],
  );

test("deleting the cache reruns no attempt; all other stages run again", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  assert.equal((await at.run()).code, 0);
  const before = results(at);
  rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const done = outcomes(said);
  assert.equal(done["attempt[seed=1]"], "reused");
  assert.equal(done["attempt[seed=2]"], "reused");
  assert.equal(done["score[seed=1]"], "succeeded");
  assert.deepEqual(at.executions(), { data: 2, "attempt-1": 1, "attempt-2": 1, "score-1": 2, "score-2": 2 });
  assert.deepEqual(results(at), before);
});

test("deleting everything except the records, even index and journals, reruns no attempt", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  assert.equal((await at.run()).code, 0);
  const before = filesBelow(records(at));
  renameSync(records(at), join(at.outside, "records"));
  removeFolder(join(at.root, ".mlrb"));
  mkdirSync(join(at.root, ".mlrb/attempts"), { recursive: true });
  renameSync(join(at.outside, "records"), records(at));
  assert.equal((await at.run()).code, 0);
  const { "attempt-1": one, "attempt-2": two } = at.executions();
  assert.deepEqual([one, two], [1, 1]);
  assert.deepEqual(filesBelow(records(at)), before);
});

test("a record contains outputs, log and the parts of its key, and its name is the digest of record.json", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  assert.equal((await at.run()).code, 0);
  const names = readdirSync(records(at));
  assert.equal(names.length, 2);
  for (const name of names) {
    const files = filesBelow(join(records(at), name));
    assert.equal(
      createHash("sha256").update(Buffer.from(files["record.json"]!, "latin1")).digest("hex"),
      name,
    );
    const record = JSON.parse(files["record.json"]!);
    const { seed } = record.axes;
    assert.equal(record.formatVersion, 1);
    assert.deepEqual(record.slot, { pipeline: at.name, profile: "default", stage: `attempt[seed=${seed}]` });
    assert.match(record.parts.inputs.text, /^[0-9a-f]{64}$/, "what it was given is pinned");
    assert.equal(files["all/deep/model"], `words\n${seed}\n`);
    assert.equal(files["trajectory.jsonl"], `${seed}\n`);
    assert.equal(files.log, `trying ${seed}\n`);
    assert.deepEqual(Object.keys(files).sort(), ["all/deep/model", "log", "record.json", "trajectory.jsonl"]);
    assert.equal(record.outputs.log.digest, createHash("sha256").update(`${seed}\n`).digest("hex"));
  }
});

test("later runs, edits and deletions change no byte of a record", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  await at.run();
  const before = filesBelow(records(at));
  attempts(at, { score: "cat -n" });
  const changed = await at.run();
  assert.equal(changed.code, 0);
  assert.equal(outcomes(changed)["attempt[seed=1]"], "reused");
  assert.equal(outcomes(changed)["score[seed=1]"], "succeeded");
  rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
  await at.run();
  assert.deepEqual(filesBelow(records(at)), before);
  clean(at);
});

test("another pipeline and another profile with an equal attempt reuse the record", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  await at.run();
  const twin = lab(t, repository, { root: at.root });
  const text = repository
    .read(`pipelines/${at.name}.yaml`)
    .replace(`"name": "${at.name}"`, `"name": "${twin.name}"`);
  repository.write(`pipelines/${twin.name}.yaml`, text);
  const said = await twin.run();
  assert.equal(said.code, 0);
  assert.equal(outcomes(said)["attempt[seed=2]"], "reused");
  assert.equal(readdirSync(records(at)).length, 2);
});

test("a failed and an interrupted attempt leave no record", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: { attempt: { durable: true, command: "echo x > {outputs.log}; exit 1", gives: { log: "file" } } },
  });
  assert.equal((await at.run()).code, 1);
  assert.deepEqual(existsSync(records(at)) ? readdirSync(records(at)) : [], []);
  at.define({
    stages: {
      attempt: {
        durable: true,
        command: `echo x > {outputs.log}; touch '${at.outside}/on'; exec sleep 60`,
        gives: { log: "file" },
      },
    },
  });
  const run = at.start(["run", at.name, "--json", "--root", at.root]);
  while (!existsSync(join(at.outside, "on"))) await new Promise((resolve) => setTimeout(resolve, 20));
  run.child.kill("SIGTERM");
  assert.equal((await run.ended).code, 130);
  assert.deepEqual(existsSync(records(at)) ? readdirSync(records(at)) : [], []);
});

test("an edited output of a record is reported by name when it is needed, and never used", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  await at.run();
  const [name] = readdirSync(records(at));
  writeFileSync(join(records(at), name!, "all/deep/model"), "better words\n");
  rmSync(join(at.root, ".mlrb/cache"), { recursive: true });
  rmSync(join(at.root, "results"), { recursive: true });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(said.stdout + said.stderr, new RegExp(`attempt ${name!.slice(0, 12)} .*was changed`));
  assert.doesNotMatch(said.stderr, /^\s+at /m);
  assert.doesNotMatch(JSON.stringify(results(at)), /better/);
  assert.equal(
    Object.values(outcomes(said)).filter((one) => one === "reused").length,
    1,
    "the other attempt is as good as before",
  );
});

test("an edited or cut record.json is reported by name, and its attempt does not silently run again", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  await at.run();
  const [name] = readdirSync(records(at));
  const path = join(records(at), name!, "record.json");
  const text = filesBelow(join(records(at), name!))["record.json"]!;
  for (const damaged of [text.slice(0, 100), "", text.replace('"durationMs"', '"durationMz"')]) {
    writeFileSync(path, damaged);
    const said = await at.run();
    assert.equal(said.code, 1, said.stdout);
    assert.match(said.stdout + said.stderr, new RegExp(`${name!.slice(0, 12)}`));
    assert.doesNotMatch(said.stderr, /^\s+at /m);
    const { "attempt-1": one, "attempt-2": two } = at.executions();
    assert.deepEqual([one, two], [1, 1]);
  }
  writeFileSync(path, text);
  assert.equal((await at.run()).code, 0);
});

test("a new attempt that may cost money needs a confirmation; a recorded one is reused without it", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      attempt: {
        durable: true,
        secrets: ["THE_KEY"],
        command: counted(at, "attempt", "echo x > {outputs.log}"),
        gives: { log: "file" },
      },
    },
  });
  const run = (...args: string[]) =>
    at.pipeline(["run", at.name, "--json", "--root", at.root, ...args], { env: { THE_KEY: "a key" } });
  const refused = await run();
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr, /over-cost: [\s\S]*help: .*--yes/);
  assert.deepEqual(refused.lines, [
    {
      event: "problem",
      code: "over-cost",
      message:
        "This would start 1 attempt, about 0.0 GPU hours, at an unknown cost; the limits are 0 GPU hours and 0 dollars.",
      help: "pass --yes; `pnpm pipeline plan` with the same pipeline and options lists them",
    },
  ]);
  assert.deepEqual(at.executions(), {});
  assert.deepEqual(outcomes(await run("--yes")), { attempt: "succeeded" });
  assert.deepEqual(outcomes(await run()), { attempt: "reused" });
  assert.deepEqual(at.executions(), { attempt: 1 });
});

test("a stale attempt is left alone, rerun or accepted as requested; its record stays, and the exit status shows the choice", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  await at.run();
  const before = filesBelow(records(at));
  attempts(at, { data: "other" });
  const plan = outcomes(await at.plan());
  assert.equal(plan["attempt[seed=1]"], "run", "its data is made first, so nothing is certain yet");
  const left = await at.run();
  assert.equal(left.code, 1, left.stdout);
  assert.equal(outcomes(left)["attempt[seed=1]"], "skipped");
  assert.equal(reasons(left, "attempt[seed=1]")[0]!.kind, "stale");
  assert.equal(outcomes(await at.plan())["attempt[seed=1]"], "stale");
  assert.equal(outcomes(left).report, "succeeded", "a report always comes");
  const { "attempt-1": one, "attempt-2": two } = at.executions();
  assert.deepEqual([one, two], [1, 1], "never by itself");

  const accepted = await at.run("--accept-stale", "the words changed only in spelling");
  assert.equal(accepted.code, 0, accepted.stdout);
  assert.equal(outcomes(accepted)["attempt[seed=1]"], "reused");
  assert.equal(outcomes(accepted)["score[seed=1]"], "reused", "judged by the data that it saw");

  const again = await at.run("--rerun");
  assert.equal(again.code, 0, again.stdout);
  assert.equal(outcomes(again)["attempt[seed=1]"], "succeeded");
  const after = filesBelow(records(at));
  for (const [path, bytes] of Object.entries(before))
    assert.equal(after[path], bytes, "old records are kept");
  assert.equal(readdirSync(records(at)).length, 4);
  assert.equal((await at.run()).code, 0);
});

test("the cost of attempts is printed next to the earlier estimate, and stored in the record", async (t) => {
  const at = lab(t, repository);
  const define = (dollars: number, seeds: number[]) =>
    at.define({
      axes: { seed: seeds },
      stages: {
        attempt: {
          each: ["seed"],
          durable: true,
          secrets: ["THE_KEY"],
          budget: { time: "1h" },
          command: `echo '{"dollars":${dollars},"gpuHours":0}' > {outputs.ledger}`,
          gives: { ledger: { file: "ledger.json" } },
        },
      },
    });
  const env = { THE_KEY: "a key" };
  const run = (...args: string[]) => at.pipeline(["run", at.name, "--root", at.root, ...args], { env });
  define(40, [1]);
  const first = await run("--yes");
  assert.match(first.stdout, /^1 attempt took 40\.00 dollars \(no estimate\)$/m);

  define(43, [1, 2, 3]);
  const refused = await run("--max-cost", "79", "--rerun");
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /would start 3 attempts, about 0\.0 GPU hours and 120\.00 dollars; the limits are 0 GPU hours and 79 dollars/,
  );
  const second = await run("--max-cost", "120", "--rerun", "--json");
  assert.equal(second.code, 0, second.stdout + second.stderr);
  const { estimate } = second.lines.at(-1)!;
  assert.deepEqual(estimate.dollars, { estimated: 120, actual: 129 });
  assert.deepEqual(estimate.gpuHours, { estimated: 0, actual: 0 });
  assert.deepEqual(
    [estimate.attempts, estimate.unrecorded, estimate.from],
    [3, 0, { least: 1, most: 1 }],
    "those of this run are not among the earlier ones, whichever ended first",
  );
  const again = await run("--json");
  assert.ok(!("estimate" in again.lines.at(-1)!), "nothing ran");
  assert.doesNotMatch((await run()).stdout, /took/);

  define(50, [1, 2, 3, 4]);
  assert.match(
    (await run("--max-cost", "200", "--rerun")).stdout,
    /^4 attempts took 200\.00 dollars \(estimated 172\.00 from 4 earlier attempts: 16 % more\)$/m,
  );
  const list = await at.pipeline(["attempts", "list", "--json", "--root", at.root]);
  const { record } = list.lines.findLast(({ event }) => event === "attempt")!;
  const shown = await at.pipeline(["attempts", "show", record, "--root", at.root]);
  assert.match(
    shown.stdout,
    /^1 attempt took 50\.00 dollars \(estimated 43\.00 from 4 earlier attempts: 16 % more\)$/m,
  );
  const json = await at.pipeline(["attempts", "show", record, "--json", "--root", at.root]);
  assert.deepEqual(
    { ...json.lines[0]!.estimate, timeMs: 0 },
    { dollars: 43, from: 4, gpuHours: 0, timeMs: 0 },
  );
});

test("a limit that is not a number is refused, and nothing runs", async (t) => {
  const at = lab(t, repository);
  attempts(at);
  const said = await at.run("--max-cost", "ten");
  assert.equal(said.code, 2);
  assert.equal(said.lines[0]!.code, "bad-limit");
  assert.deepEqual(at.executions(), {});
});
