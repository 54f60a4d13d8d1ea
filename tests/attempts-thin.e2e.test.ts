// `attempts thin` removes weights once everything planned was made of them, and no command repeats an attempt for
// them.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { recordsIn } from "./support/end-state.ts";
import { counted, type Lab, lab, lineOf, outcomes } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const mib = 1 << 20;

type Defined = { scorer?: string; fails?: boolean };

/** An attempt with a submission and a snapshot of 2 MiB each, a clean copy of each, and their scores. */
function define(at: Lab, { scorer = "1", fails = false }: Defined = {}): void {
  const bytes = (letter: string) => `head -c ${2 * mib} /dev/zero | tr '\\0' ${letter}`;
  const makes = [
    `mkdir {outputs.snapshots}/1`,
    `${bytes("e")} > {outputs.snapshots}/1/model.safetensors`,
    `echo {} > {outputs.snapshots}/index.json`,
    `${bytes("f")} > {outputs.submission}/model.safetensors`,
    `echo {} > {outputs.submission}/config.json`,
  ].join("; ");
  const score = (input: string) =>
    counted(
      at,
      `score-${input}`,
      fails ? "exit 3" : `echo ${scorer} > {outputs.score}; test -s {inputs.${input}}/model.safetensors`,
    );
  at.define({
    axes: { seed: [1] },
    profiles: { only: { default: true } },
    stages: {
      attempt: {
        each: ["seed"],
        durable: true,
        command: counted(at, "attempt", makes),
        gives: { submission: "dir", snapshots: "dir" },
      },
      validate: {
        each: ["seed"],
        needs: ["attempt.submission"],
        command: "cp {inputs.submission}/model.safetensors {outputs.clean}/",
        gives: { clean: "dir" },
      },
      checkpoint: {
        each: ["seed"],
        needs: ["attempt.snapshots"],
        command: "cp {inputs.snapshots}/1/model.safetensors {outputs.early}/",
        gives: { early: "dir" },
      },
      "checkpoint-score": {
        each: ["seed"],
        needs: ["checkpoint.early"],
        command: "echo 1 > {outputs.score}; test -s {inputs.early}/model.safetensors",
        gives: { score: "file" },
      },
      score: { each: ["seed"], needs: ["validate.clean"], command: score("clean"), gives: { score: "file" } },
      report: {
        collect: ["score.score", "digest(attempt.submission)"],
        command: "cp {inputs.manifest} {outputs.out}",
        gives: { out: "file" },
      },
    },
  });
}

function thinning(t: TestContext, defined: Defined = {}) {
  const at = lab(t, repository);
  define(at, defined);
  const attempts = (...args: string[]) => at.pipeline(["attempts", ...args, "--root", at.root]);
  const weights = (name: string) =>
    existsSync(
      join(at.root, ".mlrb/attempts/records", recordsIn(at.root)[0]!.digest, name, "model.safetensors"),
    );
  return { at, attempts, weights };
}

test("snapshots go first and the submission on request; a run then repeats nothing, and a changed scorer is named", async (t) => {
  const { at, attempts, weights } = thinning(t);
  assert.equal((await at.run()).code, 0);
  const dry = await attempts("thin", "--keep", "none", "--dry-run");
  assert.match(dry.stdout, /^1 attempt would be thinned, 4\.0 MiB would be freed$/m);
  const first = await attempts("thin");
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^thinned {3}\w{12} {2}attempt\[seed=1\] {2}1 file, 2\.0 MiB$/m);
  assert.match(
    first.stdout,
    /^1 attempt thinned, 2\.0 MiB freed\ncannot run again for them: checkpoint, checkpoint-score$/m,
  );
  assert.deepEqual([weights("snapshots/1"), weights("submission")], [false, true]);
  const second = await attempts("thin", "attempt[seed=1]", "--keep", "none");
  assert.match(second.stdout, /2\.0 MiB freed\ncannot run again for them: .*validate.*score/);
  assert.equal(weights("submission"), false);
  const verified = await attempts("verify");
  assert.deepEqual(
    [verified.code, verified.stdout],
    [0, "1 attempt read, 0 damaged, 0 repaired, 1 thinned\n"],
  );
  assert.match((await attempts("list")).stdout, /attempt\[seed=1\] {2}thinned/);

  const again = await at.run();
  assert.deepEqual(new Set(Object.values(outcomes(again))), new Set(["reused"]));

  define(at, { scorer: "2" });
  const planned = await at.pipeline(["plan", at.name, "--root", at.root]);
  assert.match(
    planned.stdout,
    /^leave {2}score\[seed=1\] {2}\(thinned: the weights of attempt \w{12} were removed, so it cannot run again\)$/m,
  );
  assert.match(planned.stdout, /1 cannot run again \(thinned\)/);
  const status = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(status.stdout, /^thinned: 1 stage instance cannot run again/m);
  const explained = await at.pipeline(["explain", "score", "--pipeline", at.name, "--root", at.root]);
  assert.match(explained.stdout, /because thinned: the weights of attempt/);
  const changed = await at.run();
  assert.equal(changed.code, 1);
  assert.equal(outcomes(changed)["score[seed=1]"], "skipped");
  assert.match(JSON.stringify(lineOf(changed, "score[seed=1]")), /which were removed \(thinned\)/);
  const accepted = await at.run("--accept-stale", "the same numbers");
  assert.equal(accepted.code, 0, accepted.stderr);
  const manifest = readFileSync(join(at.root, "results", at.name, "only", "out"), "utf8");
  assert.match(manifest, /thinned, its earlier result accepted: the same numbers/);
  assert.deepEqual(at.executions(), { attempt: 1, "score-clean": 1 });
  const exported = await attempts("export", join(at.outside, "archive"));
  assert.match(exported.stderr, /^left out: attempt \w{12} is thinned/m);
});

test("a submission without all its scores stays, with the missing ones named, and its snapshots go", async (t) => {
  const { at, attempts, weights } = thinning(t, { fails: true });
  assert.equal((await at.run()).code, 1);
  const said = await attempts("thin", "--keep", "none");
  assert.equal(said.code, 1);
  assert.match(
    said.stdout,
    /^kept {6}\w{12} {2}attempt\[seed=1\] {2}its submission: not made yet: score\[seed=1\]$/m,
  );
  assert.deepEqual([weights("snapshots/1"), weights("submission")], [false, true]);
  define(at, { scorer: "7" });
  assert.equal((await at.run()).code, 0, "the submission can still be scored");
  const score = hash("sha256", "7\n");
  const path = join(at.root, ".mlrb/cache/blobs", score.slice(0, 1), score.slice(1));
  chmodSync(path, 0o644);
  writeFileSync(path, ""); // as a power cut leaves it
  const torn = await attempts("thin", "--keep", "none");
  assert.equal(torn.code, 1);
  assert.match(
    torn.stdout,
    /its submission: its results are damaged; run again, or `cache gc` if no plan has them: score\[seed=1\]$/m,
  );
  assert.equal(weights("submission"), true);
  assert.equal(outcomes(await at.run())["score[seed=1]"], "succeeded");
  assert.equal((await attempts("thin", "--keep", "none")).code, 0);
  assert.deepEqual([weights("submission"), at.executions().attempt], [false, 1]);
});

test("weights stay until every profile that uses the attempt has its scores, whatever a narrowed run or command made", async (t) => {
  const at = lab(t, repository);
  const makes = `head -c ${2 * mib} /dev/zero > {outputs.submission}/model.safetensors`;
  at.define({
    axes: { seed: [1], scorer: ["a", "b"] },
    profiles: {
      only: { default: true },
      wide: { extends: "only", axes: { scorer: ["a", "b", "c"] } },
    },
    stages: {
      attempt: {
        each: ["seed"],
        durable: true,
        command: counted(at, "attempt", makes),
        gives: { submission: "dir" },
      },
      score: {
        each: ["seed", "scorer"],
        needs: ["attempt.submission"],
        command: "test -s {inputs.submission}/model.safetensors; echo {scorer} > {outputs.score}",
        gives: { score: "file" },
      },
    },
  });
  const thin = (...args: string[]) => at.pipeline(["attempts", "thin", ...args, "--root", at.root]);
  assert.equal((await at.run("--set", "scorer=a")).code, 0);
  const missing = "not made yet in profile wide: score\\[seed=1,scorer=c\\]";
  assert.equal((await at.run()).code, 0);
  const foreign = await thin("--set", "scorer=a");
  assert.equal(foreign.code, 2);
  assert.match(foreign.stderr, /^foreign-axis: attempt\[seed=1\] has no axis scorer\n {2}help: .*: seed;/m);
  const asked = await thin("--keep", "none");
  assert.equal(asked.code, 1);
  assert.match(asked.stdout, new RegExp(`its submission: ${missing}$`, "m"));
  const wide = await at.run("--profile", "wide");
  assert.deepEqual([wide.code, at.executions().attempt], [0, 1], wide.stderr);
  assert.equal((await thin("--keep", "none")).code, 0);
  const { digest } = recordsIn(at.root)[0]!;
  const file = join(at.root, ".mlrb/attempts/records", digest, "submission/model.safetensors");
  assert.equal(existsSync(file), false, "now every score is there");
});
