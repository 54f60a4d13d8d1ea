// `pipeline task check` on one task, with the cheats of one rule, a near-miss and three honest models, drawn by a printed
// seed. MLRB_TEST_SEED repeats a sample. The whole corpus runs by hand; docs/rules.md has its result.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState, oneTask } from "./support/benchmark-state.ts";
import { type ProgramOutput, startProgram } from "./support/run-program.ts";
import { testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-task-check-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);
repository.edit("pipelines/task-check.yaml", "members: null", `members: ${testSeed}`);

const check = () => startProgram(repository.path, ["task", "check", oneTask, "--root", root, "--json"]).ended;
const of = (output: ProgramOutput, event: string) => output.lines.filter((line) => line.event === event);

/** Each file below a folder of the state, with its size and the time of its last change. */
function filesOf(folder: string): string[] {
  return readdirSync(join(root, ".mlrb", folder), { recursive: true })
    .map((name) => {
      const { size, mtimeMs } = statSync(join(root, ".mlrb", folder, String(name)));
      return `${name} ${size} ${mtimeMs}`;
    })
    .sort();
}

/** How many stages have started. */
function started(): number {
  const folder = join(root, ".mlrb/journals");
  const journals = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return journals
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "" && JSON.parse(line).event === "start").length;
}

const attempts = filesOf("attempts");
let said: ProgramOutput;
before(
  async () => {
    said = await check();
    const rules = of(said, "rule").map((one) => JSON.stringify(one));
    console.log([`corpus seed ${testSeed}`, ...rules].join("\n"));
  },
  { timeout: 20 * 60_000 },
);

test("no honest model breaks a rule or is rejected, no cheat gets through, and the bounds are printed", () => {
  assert.deepEqual(of(said, "unmet"), [], `MLRB_TEST_SEED=${testSeed}`);
  assert.equal(said.code, 0, said.stderr);
  const cheated = of(said, "rule").filter(({ stopped }) => stopped.trials > 0);
  assert.equal(cheated.length, 1);
  const [{ falseAlarms, stopped }] = cheated as [
    Record<string, { events: number; trials: number; interval: number[] }>,
  ];
  assert.ok(stopped!.trials >= 3 && stopped!.events === stopped!.trials, JSON.stringify(stopped));
  assert.ok(stopped!.interval[0]! > 0.29, JSON.stringify(stopped)); // 3 of 3
  assert.ok(falseAlarms!.events === 0 && falseAlarms!.trials >= 4, JSON.stringify(falseAlarms));
});

test("the recorded attempts of the baselines count as honest models, and no attempt is added or changed", () => {
  const scratch = of(said, "rule").find(({ name }) => name === "from-scratch")!;
  const [summary] = of(said, "summary");
  assert.ok(scratch.falseAlarms.trials + scratch.undecided >= 4 + 2, JSON.stringify(scratch));
  assert.ok(summary!.models >= 3 + 4 + 2, JSON.stringify(summary));
  assert.ok(attempts.length > 0);
  assert.deepEqual(filesOf("attempts"), attempts);
});

test("a second check starts nothing and prints the same table", { timeout: 10 * 60_000 }, async () => {
  const before = started();
  assert.ok(before > 0);
  const again = await check();
  assert.equal(started(), before);
  assert.equal(again.stdout, said.stdout);
});

test("a rule that lets cheats pass gives exit status 1 and their names", {
  timeout: 10 * 60_000,
}, async () => {
  const kind = 'const kind = admission.admitted ? kindOfRules(verdicts) : "rejected";';
  repository.edit(
    "runners/kit/src/rules/verdict.ts",
    kind,
    `for (const one of verdicts) one.answer = "pass";\n  ${kind}`,
  );
  const broken = await check();
  assert.equal(broken.code, 1);
  const unmet = of(broken, "unmet").map(({ problem }) => problem);
  assert.ok(unmet.length > 0, broken.stderr);
  for (const problem of unmet) assert.match(problem, /^\S+ is a cheat, and \S+ answers pass$/);
});
