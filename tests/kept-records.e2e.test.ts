// Attempts cost money: this version must find, use and show those that were made before, and must not repeat them.
// The records are those of tests/fixtures/records.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { keptAttempts, keptRecords } from "./support/attempts/kept-records.ts";
import { recordsIn } from "./support/end-state.ts";
import { lab, outcomes, reasons } from "./support/lab.ts";
import { type Line, startProgram } from "./support/run-program.ts";

const { repository, root: newRoot, kept, remove } = keptRecords();
after(remove);

const attemptsOf = (all: Record<string, string>) =>
  Object.fromEntries(Object.entries(all).filter(([stage]) => stage.startsWith("attempt[")));
const all = (what: string) => Object.fromEntries(keptAttempts.map((stage) => [stage, what]));

/** Attempts of format 1 stay valid: these are never made again. */
const formatOne = [
  "5781bfcbf2405318c97054cfef0dbb7e97622b6c4c6da9641fd09d0c0a822c29",
  "73de2cd88f26401873b4858ccce1a394da23dabe3d6df7c5238504415a7b0965",
  "ba8c19e342bd1aa2fd972fd4bae52dbb7c202ffc9e66e5acedb083ff7a4697fc",
  "e36285c79fa8f0c830491b12a58a749b2ad0738b52a2aa7e2c49072d5c1f14a4",
];

test("the records of format 1 are the ones that were made when it began", () => {
  assert.deepEqual(
    recordsIn(newRoot())
      .map(({ digest }) => digest)
      .sort(),
    formatOne,
  );
});

test("kept records are found for an unchanged plan, no attempt runs, and the report is made from them", async () => {
  const root = newRoot();
  const planned = await kept(root, "plan");
  assert.equal(planned.code, 0, planned.stdout + planned.stderr);
  const said = await kept(root, "run");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(attemptsOf(outcomes(said)), all("reused"));
  const again = await kept(root, "plan");
  assert.deepEqual(attemptsOf(outcomes(again)), all("reuse"));
  for (const stage of keptAttempts) assert.deepEqual(reasons(again, stage), [{ kind: "unchanged" }]);
  assert.equal(recordsIn(root).length, keptAttempts.length);
  const report = JSON.parse(readFileSync(join(root, "results/kept/smoke/report.json"), "utf8"));
  assert.deepEqual(
    report.attempts.map(({ agent, submission }: Line) => [agent, typeof submission]).sort(),
    ["kept-cli", "kept-model", "kept-replay", "kept-script"].map((agent) => [agent, "string"]),
  );
  // an output that attempts did not give then: the stage runs without it and says so
  for (const { overlap } of report.attempts)
    assert.deepEqual(overlap.unread, [{ place: "workspace", why: "not kept" }]);
});

test("the records are listed and each is shown", async () => {
  const root = newRoot();
  const attempts = (...args: string[]) =>
    startProgram(repository.path, ["attempts", ...args, "--json", "--root", root]).ended;
  const listed = await attempts("list");
  assert.equal(listed.code, 0, listed.stdout + listed.stderr);
  for (const stage of keptAttempts) assert.ok(listed.stdout.includes(stage), stage);
  for (const { digest } of recordsIn(root)) {
    const shown = await attempts("show", digest);
    assert.equal(shown.code, 0, shown.stdout + shown.stderr);
    assert.equal(shown.lines[0]!.digest, digest);
  }
});

test("a record whose prompt differs is stale: shown, not used, and its attempt is not repeated", async () => {
  const root = newRoot();
  const prompt = repository.read("tasks/kept/prompt.md");
  repository.write("tasks/kept/prompt.md", `${prompt}\nMore.\n`);
  const said = await kept(root, "run");
  repository.write("tasks/kept/prompt.md", prompt);
  assert.equal(said.code, 1, said.stdout + said.stderr);
  const [, line] = said.stdout.match(/^(\{.*"stage":"attempt\[task=kept,agent=kept-script,seed=1\]".*)$/m)!;
  assert.deepEqual(
    (JSON.parse(line!) as Line).reasons.map(({ kind, changed }: Line) => [kind, changed]),
    [["stale", [{ kind: "file-changed", file: "tasks/kept/prompt.md" }]]],
  );
  assert.equal(recordsIn(root).length, keptAttempts.length);
});

test("an attempt made today is stale for any change its agent could read, and for nothing else", async (t) => {
  const at = lab(t, repository);
  defineAttempts(at, { script: 'echo words > "$MLRB_SUBMISSION/words.txt"', trusted: true });
  const program = `${at.name}/program`;
  const inside = (file: string) => join(repository.path, program, file);
  repository.write(`${program}/tool.py`, '"""Doc."""\n# a remark\nx = 1\n');
  repository.write(`${program}/.env`, "A=1\n");
  repository.write(`${program}/node_modules/dep/index.js`, "1;\n");
  repository.write(`${program}/notes.txt~`, "old\n");
  symlinkSync("tool.py", inside("tool"));
  const made = await at.run("--yes");
  assert.equal(made.code, 0, made.stdout + made.stderr);
  const stage = "attempt[task=empty,agent=tries,seed=1]";
  const changed = async () => {
    const [reason] = reasons(await at.plan(), stage);
    return reason!.kind === "stale"
      ? reason!.changed.map(({ file, kind }: Line) => file ?? kind)
      : reason!.kind;
  };
  const edited = async (edit: () => void, undo: () => void, files: string[] | string) => {
    edit();
    const stale = await changed();
    assert.deepEqual(stale, typeof files === "string" ? files : files.map((file) => `${program}/${file}`));
    undo();
  };
  const text = (file: string, now: string) => {
    const before = repository.read(`${program}/${file}`);
    const write = (one: string) => () => repository.write(`${program}/${file}`, one);
    return edited(write(now), write(before), [file]);
  };
  await text("tool.py", '"""Another."""\n# a remark\nx = 1\n');
  await text("tool.py", '"""Doc."""\n# another remark\nx = 1\n');
  await text(".env", "A=2\n");
  await text("node_modules/dep/index.js", "2;\n");
  await text("notes.txt~", "older\n");
  await edited(
    () => chmodSync(inside("agent.sh"), 0o755),
    () => chmodSync(inside("agent.sh"), 0o644),
    ["agent.sh"],
  );
  const lead = (to: string) => () => {
    rmSync(inside("tool"));
    symlinkSync(to, inside("tool"));
  };
  await edited(lead("agent.sh"), lead("tool.py"), ["tool"]);
  await edited(
    () => mkdirSync(inside("empty")),
    () => rmSync(inside("empty"), { recursive: true }),
    ["empty/"],
  );
  await edited(
    () => repository.write(`${program}/__pycache__/tool.pyc`, "byte code"),
    () => rmSync(inside("__pycache__"), { recursive: true }),
    "unchanged",
  );
  symlinkSync("../..", inside("out"));
  const [refused] = reasons(await at.plan(), stage);
  assert.match(
    refused!.detail,
    /^lab-\S+\/program\/out cannot be given to an agent: it is a link out of the folder/,
  );
  const checked = await at.pipeline(["check", `pipelines/${at.name}.yaml`]);
  assert.equal(checked.code, 2);
  assert.match(checked.stderr, /^cannot-hand-over: .*program\/out cannot be given to an agent/m);
});
