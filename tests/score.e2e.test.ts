// `pipeline score`: any folder is validated and scored as an attempt's submission would be.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = mkdtempSync(join(tmpdir(), "mlrb-score-"));
const root = join(above, "root");
shareEnvironments(root);
after(() => {
  repository.remove();
  rmSync(above, { recursive: true });
});

const score = (...args: string[]) => startProgram(repository.path, ["score", ...args, "--root", root]).ended;

test("an empty folder is rejected by every scorer, with floors and anchors beside; the second time all is reused", async () => {
  const folder = join(above, "empty");
  mkdirSync(folder);
  const said = await score(folder, "--task", "baby-lm", "--json");
  assert.equal(said.code, 0, said.stderr);
  const [submission, verdict, ...scores] = said.lines;
  assert.equal(submission!.files, 0);
  assert.equal(verdict!.kind, "rejected");
  assert.ok(scores.length >= 2);
  for (const one of scores) {
    assert.equal(one.kind, "rejected", JSON.stringify(one));
    assert.equal(one.floor.kind, "known");
    assert.ok(one.anchors.length > 0);
  }
  assert.deepEqual(recordsIn(root), [], "it is no attempt");
  const again = await score(folder, "--task", "baby-lm");
  assert.equal(again.code, 0);
  assert.match(again.stdout, /as a submission to baby-lm \(smoke\): rejected/);
  assert.match(again.stdout, /this submission +│ rejected/);
  assert.match(again.stdout, /in-time: cannot-tell \(strike\): there was no attempt/);
  assert.doesNotMatch(again.stderr, /start {3}/, "nothing was started");
});

test("links and pipes in the folder are left out by name, and nothing behind them is read", async () => {
  const folder = join(above, "links");
  mkdirSync(folder);
  symlinkSync("/etc/passwd", join(folder, "config.json"));
  symlinkSync("..", join(folder, "up"));
  writeFileSync(join(folder, "notes.txt"), "x");
  const said = await score(folder, "--task", "baby-lm", "--json");
  assert.equal(said.code, 0, said.stderr);
  const { files, leftOut } = said.lines[0]!;
  assert.equal(files, 1);
  assert.deepEqual(leftOut.map(({ path }: { path: string }) => path).sort(), ["config.json", "up"]);
  assert.equal(said.lines[1]!.kind, "rejected");
});

test("what is no folder, no task, or no pipeline with attempts is refused before anything runs", async () => {
  const file = join(above, "file");
  writeFileSync(file, "x");
  const folder = join(above, "some");
  mkdirSync(folder);
  for (const [args, words] of [
    [[file, "--task", "baby-lm"], /bad-submission: .*file is a file; a submission is a folder/],
    [[join(above, "nowhere"), "--task", "baby-lm"], /bad-submission: there is no folder/],
    [[folder, "--task", "babylm"], /unknown-task: .*babylm[\s\S]*did you mean "baby-lm"/],
    [[folder, "--task", "baby-lm", "--jobs", "0"], /bad-jobs/],
    [[folder, "--task", "baby-lm", "--pipeline", "nothing"], /unknown-pipeline/],
    [[folder], /required option '--task <name>'/],
  ] as const) {
    const said = await score(...args);
    assert.equal(said.code, 2, `${args.join(" ")}: ${said.stderr}`);
    assert.match(said.stderr, words);
  }
});
