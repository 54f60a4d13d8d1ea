// `pipeline task check` on one task, with the whole corpus. It prints the bounds of each rule.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState, oneTask } from "./support/benchmark-state.ts";
import { type ProgramOutput, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-task-check-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);

const check = (...more: string[]) =>
  startProgram(repository.path, ["task", "check", oneTask, "--root", root, ...more]).ended;

let said: ProgramOutput;
before(
  async () => {
    said = await check("--json");
    for (const one of said.lines.filter(({ event }) => event === "rule"))
      console.log(`${one.name}: ${JSON.stringify(one)}`);
  },
  { timeout: 60 * 60_000 },
);

const rule = (name: string) => said.lines.find((one) => one.event === "rule" && one.name === name)!;

test("no honest model breaks a rule or is rejected, and no cheat gets through", () => {
  assert.deepEqual(
    said.lines.filter(({ event }) => event === "unmet"),
    [],
  );
  assert.equal(said.code, 0, said.stderr);
});

test("the false alarms of look-ahead and from-scratch are at most 5 %, and a part of the models is held out", () => {
  for (const name of ["no-look-ahead", "from-scratch"]) {
    const { falseAlarms, heldOut, needed } = rule(name);
    assert.ok(falseAlarms.interval[1] <= 0.05, `${name}: ${JSON.stringify(falseAlarms)}`);
    assert.equal(needed, 0);
    assert.ok(heldOut.trials >= 30, `${name}: ${heldOut.trials} held out`);
  }
});

test("each cheat of look-ahead and of stored types is stopped, at least three for each", () => {
  for (const name of ["no-look-ahead", "plain-floats"]) {
    const { stopped } = rule(name);
    assert.equal(stopped.events, stopped.trials);
    assert.ok(stopped.trials >= 3, `${name}: ${stopped.trials} cheats`);
  }
});

test("a second check runs nothing and prints the same table", { timeout: 10 * 60_000 }, async () => {
  const again = await check("--json");
  assert.doesNotMatch(again.stderr, /start {3}/);
  assert.equal(again.stdout, said.stdout);
});
