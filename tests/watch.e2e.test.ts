// `pipeline watch`: an edit runs the stages that it changed and no others, whenever and however it is made; an
// edit outside the plan runs nothing; and the command ends on request. The tests wait for its output.
import assert from "node:assert/strict";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { counted, type Lab, lab, leftovers } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import type { ProgramOptions } from "./support/run-program.ts";
import { stagePrograms } from "./support/sandboxes/stage-programs.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** A watch of the lab's pipeline, after its first run. */
async function watching(t: TestContext, at: Lab, more: { args?: string[]; options?: ProgramOptions } = {}) {
  const { args = [], options } = more;
  const watch = at.start(["watch", at.name, "--root", at.root, ...args], options);
  t.after(() => watch.child.kill("SIGKILL"));
  let waits = 0;
  let heard = 0;
  const text = () => watch.stderr() + watch.stdout();
  /** The output until it waited for the next time. */
  const waited = async () => {
    waits++;
    await until(`it to wait for the ${waits}. time: ${text()}`, () => {
      assert.equal(watch.child.exitCode, null, text());
      return watch.stderr().split("watch: waiting").length > waits;
    });
    const said = watch.stderr().slice(heard);
    heard = watch.stderr().length;
    return said;
  };
  return { ...watch, waited };
}

/** Two unrelated stages, each with its own file, and one that needs both. */
function pair(at: Lab): void {
  at.script("one.txt", "one");
  at.script("two.txt", "two");
  const make = (name: string) => ({
    files: [`${at.name}/${name}.txt`],
    command: counted(at, name, `cat ${at.name}/${name}.txt > {outputs.text}`),
    gives: { text: "file" },
  });
  at.define({
    stages: {
      one: make("one"),
      two: make("two"),
      both: {
        needs: { one: "one.text", two: "two.text" },
        command: counted(at, "both", "cat {inputs.one} {inputs.two} > {outputs.all}"),
        gives: { all: "file" },
      },
    },
  });
}

const file = (at: Lab, name: string) => join(repository.path, at.name, name);
const runsOf = (said: string) => [...said.matchAll(/start {3}(\S+)/g)].map(([, id]) => id!).sort();

test("an edit runs the stages that it changes, with the reason, and no others; a file outside the plan runs nothing", async (t) => {
  const at = lab(t, repository);
  pair(at);
  const { waited } = await watching(t, at);
  await waited();
  assert.deepEqual(at.executions(), { both: 1, one: 1, two: 1 });
  at.script("nobody.txt", "read by no stage");
  at.script("two.txt", "two, edited");
  const said = await waited();
  assert.deepEqual(runsOf(said), ["both", "two"]);
  assert.match(said, new RegExp(`^watch: ${at.name}/two\\.txt changed$`, "m"));
  assert.doesNotMatch(said, /nobody/);
  assert.match(said, new RegExp(`start {3}two {2}\\(file changed: ${at.name}/two\\.txt\\)`));
  assert.deepEqual(at.executions(), { both: 2, one: 1, two: 2 });
});

test("imports of a script count, and so does a fix of a script that cannot be bundled", async (t) => {
  const at = lab(t, repository);
  const script = (from: string) =>
    at.script(
      "stage.ts",
      `import { writeFileSync } from "node:fs";\nimport { stage } from "@mlrb/kit/stage";\nimport { word } from "./${from}";\nwriteFileSync(stage().outputs.text!, word);\n`,
    );
  at.script("word.ts", 'export const word = "first";\n');
  script("word.ts");
  at.define({ stages: { say: { script: `${at.name}/stage.ts`, gives: { text: "file" } } } });
  const { waited } = await watching(t, at);
  assert.match(await waited(), /done {4}say/);
  at.script("word.ts", 'export const word = "second";\n');
  const second = await waited();
  assert.match(second, new RegExp(`start {3}say {2}\\(code changed: ${at.name}/word\\.ts\\)`));
  assert.match(second, /done {4}say/);
  at.script("word.ts", "export const word = ;\n");
  assert.match(await waited(), /FAILED {2}say .*cannot be bundled/);
  script("other.ts");
  assert.match(await waited(), /Could not resolve "\.\/other\.ts"/);
  at.script("other.ts", 'export const word = "third";\n');
  const mended = await waited();
  assert.match(mended, new RegExp(`watch: ${at.name}/other\\.ts added`));
  assert.match(mended, /done {4}say/);
});

test("an edit during a run takes effect in the next run", async (t) => {
  const at = lab(t, repository);
  pair(at);
  const go = join(at.outside, "go");
  const wait = `touch '${at.outside}/began'; while [ ! -e '${go}' ]; do sleep 0.05; done`;
  at.script("one.txt", "before");
  at.define({
    stages: {
      one: {
        files: [`${at.name}/one.txt`],
        command: counted(at, "one", `cat ${at.name}/one.txt > {outputs.text}`),
        gives: { text: "file" },
      },
      slow: {
        needs: ["one.text"],
        command: counted(at, "slow", `${wait}; cp {inputs.text} {outputs.text}`),
        gives: { text: "file" },
      },
    },
  });
  const { waited } = await watching(t, at);
  await until("the slow stage to run", () => existsSync(join(at.outside, "began")));
  at.script("one.txt", "after");
  writeFileSync(go, "");
  const said = await waited();
  assert.match(
    said,
    new RegExp(`done {4}slow[\\s\\S]*watch: ${at.name}/one\\.txt changed\\n[\\s\\S]*done {4}slow`),
  );
  assert.deepEqual(at.executions(), { one: 2, slow: 2 });
});

test("a problem in the YAML is shown with its place and nothing runs; after a fix, the changed stages run", async (t) => {
  const at = lab(t, repository);
  pair(at);
  const { waited } = await watching(t, at);
  await waited();
  const yaml = `pipelines/${at.name}.yaml`;
  const good = repository.read(yaml);
  repository.write(yaml, good.replace('"gives"', '"givs"'));
  const broken = await waited();
  assert.match(broken, new RegExp(`${yaml}:\\d+:\\d+ [\\s\\S]*givs[\\s\\S]*nothing was run`));
  assert.deepEqual(runsOf(broken), []);
  repository.write(yaml, "stages: [");
  assert.match(await waited(), new RegExp(`${yaml}:\\d+:\\d+ `));
  // edits made meanwhile count once the plan is valid again
  at.script("two.txt", "edited while nothing could run");
  await waited();
  repository.write(yaml, good);
  assert.deepEqual(runsOf(await waited()), ["both", "two"]);
  assert.deepEqual(at.executions(), { both: 2, one: 1, two: 2 });
});

test("renamed, new or removed files, and a hundred edits at once, are one run each", async (t) => {
  const at = lab(t, repository);
  at.script("parts/a.txt", "a");
  at.define({
    stages: {
      all: {
        files: [`${at.name}/parts/**`],
        command: counted(at, "all", `cat $(find ${at.name}/parts -type f | sort) > {outputs.text}`),
        gives: { text: "file" },
      },
    },
  });
  const { waited } = await watching(t, at);
  await waited();
  const done = async (said: string) => {
    assert.match(await waited(), new RegExp(`^${said}$[\\s\\S]*done {4}all`, "m"));
  };
  writeFileSync(file(at, "parts/.a.txt.new"), "b");
  renameSync(file(at, "parts/.a.txt.new"), file(at, "parts/a.txt"));
  await done(`watch: ${at.name}/parts/a\\.txt changed`);
  at.script("parts/deep/new.txt", "new");
  await done(`watch: ${at.name}/parts/deep/new\\.txt added`);
  rmSync(file(at, "parts/deep"), { recursive: true });
  await waited(); // the same as before: reused
  for (let part = 0; part < 100; part++) at.script(`parts/${part}.txt`, String(part));
  await done("watch: … and 95 more");
  assert.deepEqual(at.executions(), { all: 4 });
});

test("a task whose folder is created while watch runs is run as soon as the folder exists", async (t) => {
  const at = lab(t, repository);
  const task = `${at.name}-task`;
  at.define({
    axes: { task: [task] },
    stages: {
      make: {
        each: ["task"],
        params: { title: "{task.title}" },
        command: "echo {task} > {outputs.text}",
        gives: { text: "file" },
      },
    },
  });
  const { waited } = await watching(t, at);
  assert.match(await waited(), new RegExp(`unknown-task: no task named "${task}"[\\s\\S]*nothing was run`));
  t.after(() => rmSync(join(repository.path, "tasks", task), { recursive: true }));
  const text = repository.read("tasks/baby-lm/task.yaml").replace(/^name: baby-lm$/m, `name: ${task}`);
  repository.write(`tasks/${task}/task.yaml`, text);
  const said = await waited();
  assert.match(said, new RegExp(`watch: tasks/${task}`));
  assert.match(said, new RegExp(`done {4}make\\[task=${task}\\]`));
});

test("an attempt that an edit makes stale is left alone, unless --rerun is given", async (t) => {
  const at = lab(t, repository);
  at.script("prompt.md", "first");
  at.define({
    stages: {
      attempt: {
        durable: true,
        files: [`${at.name}/prompt.md`],
        command: counted(at, "attempt", `cat ${at.name}/prompt.md > {outputs.text}`),
        gives: { text: "file" },
      },
    },
  });
  const left = await watching(t, at);
  await left.waited();
  at.script("prompt.md", "second");
  assert.match(await left.waited(), /skipped attempt {2}\(.*stale/);
  assert.deepEqual(at.executions(), { attempt: 1 });
  left.child.kill("SIGTERM");
  assert.equal((await left.ended).code, 130);
  const again = await watching(t, at, { args: ["--rerun"] });
  assert.match(await again.waited(), /done {4}attempt/);
  assert.deepEqual(at.executions(), { attempt: 2 });
});

/** One stage that reports its start and waits, also after a request to end if `stubborn`. */
function endless(at: Lab, stubborn: boolean): void {
  const deaf = stubborn ? "trap '' TERM INT;" : "";
  at.define({
    stages: { endless: { command: `${deaf} touch '${at.outside}/began'; while :; do sleep 0.05; done` } },
  });
}

const began = (at: Lab) => until("the stage to begin", () => existsSync(join(at.outside, "began")));

test("Ctrl-C ends a waiting watch at once, and a running one in order; both exit with 130", async (t) => {
  const quiet = lab(t, repository);
  pair(quiet);
  const idle = await watching(t, quiet);
  await idle.waited();
  idle.child.kill("SIGINT");
  assert.equal((await idle.ended).code, 130);
  const at = lab(t, repository);
  endless(at, false);
  const busy = await watching(t, at);
  await began(at);
  busy.child.kill("SIGINT");
  const said = await busy.ended;
  assert.equal(said.code, 130, said.stderr);
  assert.match(said.stderr, /stopping: running stages are asked to stop/);
  assert.deepEqual(leftovers(at), []);
});

test("a terminal's Ctrl-C, which also reaches the run, is counted once; a second one kills", async (t) => {
  const at = lab(t, repository);
  endless(at, true);
  const busy = await watching(t, at, { options: { through: ["setsid"] } });
  await began(at);
  process.kill(-busy.child.pid!, "SIGINT");
  await until("the run to be asked", () => busy.stderr().includes("asked to stop"));
  assert.doesNotMatch(busy.stderr(), /killing running stages/);
  process.kill(-busy.child.pid!, "SIGINT");
  const said = await busy.ended;
  assert.equal(said.code, 130, said.stderr);
  assert.match(said.stderr, /killing running stages/);
  assert.deepEqual(leftovers(at), []);
});

test("a killed watch ends its run too", async (t) => {
  const at = lab(t, repository);
  endless(at, false);
  const busy = await watching(t, at);
  await began(at);
  busy.child.kill("SIGKILL");
  await until("the stage to be ended", () => stagePrograms(at.root).length === 0);
  await until("the run to clear up", () => leftovers(at).length === 0);
});

test("problems that no edit can fix are refused: an unknown pipeline, invalid options", async (t) => {
  const at = lab(t, repository);
  pair(at);
  for (const [args, problem] of [
    [["watch", "no-such-pipeline"], /unknown-pipeline/],
    [["watch", at.name, "--jobs", "none"], /bad-jobs/],
    [["watch", at.name, "--set", "seed"], /bad-set/],
  ] as const) {
    const said = await at.pipeline([...args, "--root", at.root]);
    assert.equal(said.code, 2);
    assert.match(said.stderr, problem);
  }
});

test("with --json, watch prints the lines of every run, and between them the changes", async (t) => {
  const at = lab(t, repository);
  pair(at);
  const watch = at.start(["watch", at.name, "--root", at.root, "--json", "--jobs", "1"]);
  t.after(() => watch.child.kill("SIGKILL"));
  const waits = (count: number) =>
    until("it to wait", () => watch.stdout().split('"event":"waiting"').length > count);
  await waits(1);
  at.script("one.txt", "edited");
  await waits(2);
  watch.child.kill("SIGINT");
  const said = await watch.ended;
  assert.deepEqual(
    said.lines.map(
      ({ event, stage, outcome, changes }) => changes ?? (stage ? `${stage} ${outcome}` : event),
    ),
    [
      "one succeeded",
      "two succeeded",
      "both succeeded",
      "summary",
      "waiting",
      [{ path: `${at.name}/one.txt`, how: "changed" }],
      "two reused",
      "one succeeded",
      "both succeeded",
      "summary",
      "waiting",
    ],
  );
});

test("repeated edits leave neither memory nor open files behind", async (t) => {
  if (process.platform !== "linux") return t.skip("open files are counted by /proc");
  const at = lab(t, repository);
  pair(at);
  const { waited, child } = await watching(t, at);
  await waited();
  const open = () => readdirSync(`/proc/${child.pid}/fd`).length;
  const edit = async (count: number) => {
    at.script("two.txt", `two, for the ${count}. time`);
    await waited();
  };
  await edit(1);
  const before = open();
  for (let count = 2; count <= 12; count++) await edit(count);
  assert.equal(open(), before);
  assert.deepEqual(at.executions(), { both: 13, one: 1, two: 13 });
});
