// A change reruns exactly what it can affect, and the reason names it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { actionsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import {
  counted,
  filesBelow,
  type Lab,
  lab,
  lineOf,
  outcomes,
  type PipelineText,
  reasons,
  results,
  waiting,
} from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const upperScript = `// Writes its input in capitals.
import { readFileSync, writeFileSync } from "node:fs";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
import { shout } from "./shout.ts";

const { inputs, outputs, params } = stage();
const text: string = readFileSync(inputs.text!, "utf8");
writeFileSync(outputs.text!, shout(text) + canonicalJson(params));
`;
const shoutScript = `// In capitals.
export function shout(text: string): string {
  return text.toUpperCase();
}
export function unused(): number {
  return 1;
}
`;

/** source → upper (a script with a local and a kit import) → length; apart is unrelated. */
function chain(at: Lab, change: (pipeline: PipelineText) => void = () => {}): void {
  const pipeline: PipelineText = {
    params: { mark: "one", other: "one" },
    stages: {
      source: {
        files: [`${at.name}/words.txt`],
        command: counted(at, "source", `cat ${at.name}/words.txt > {outputs.text}`),
        gives: { text: "file" },
      },
      upper: {
        needs: ["source.text"],
        script: `${at.name}/upper.ts`,
        params: { mark: "{params.mark}" },
        gives: { text: "file" },
      },
      length: {
        needs: ["upper.text"],
        command: counted(at, "length", "wc -c < {inputs.text} > {outputs.count}"),
        gives: { count: "file" },
      },
      apart: {
        params: { other: "{params.other}" },
        command: counted(at, "apart", "echo {params.other} > {outputs.text}"),
        gives: { text: "file" },
      },
    },
  };
  change(pipeline);
  at.define(pipeline);
}

async function ran(at: Lab): Promise<void> {
  at.script("words.txt", "alpha beta\n");
  at.script("upper.ts", upperScript);
  at.script("shout.ts", shoutScript);
  chain(at);
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
}

const allReused = { source: "reused", upper: "reused", length: "reused", apart: "reused" };

/** What a run did, without reused stages. */
async function rerun(
  at: Lab,
  ...args: string[]
): Promise<{ ran: string[]; why: (stage: string) => unknown }> {
  const planned = outcomes(await at.plan(...args));
  const said = await at.run(...args);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const done = outcomes(said);
  const ran = Object.keys(done).filter((stage) => done[stage] !== "reused");
  for (const stage of ran)
    assert.equal(planned[stage], "run", `${stage} ran, and the plan said it would not`);
  return { ran: ran.sort(), why: (stage) => reasons(said, stage) };
}

test("a second run reuses everything, executes nothing and leaves the results unchanged", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  const before = results(at);
  const said = await at.run();
  assert.deepEqual(outcomes(said), allReused);
  for (const stage of Object.keys(allReused)) assert.deepEqual(reasons(said, stage), [{ kind: "unchanged" }]);
  assert.deepEqual(at.executions(), { source: 1, length: 1, apart: 1 });
  assert.deepEqual(results(at), before);
});

test("touching every file reruns nothing", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  const now = new Date();
  const files = [
    `${at.name}/words.txt`,
    `${at.name}/upper.ts`,
    `${at.name}/shout.ts`,
    "runners/kit/src/stage.ts",
    "pnpm-lock.yaml",
    `pipelines/${at.name}.yaml`,
  ];
  for (const file of files) utimesSync(join(repository.path, file), now, now);
  assert.deepEqual((await rerun(at)).ran, []);
  for (const file of files) utimesSync(join(repository.path, file), now, new Date(now.getTime() - 3600e3));
  assert.deepEqual((await rerun(at)).ran, []);
});

for (const between of ["a run that failed", "a run of another request"])
  test(`an edit that is undone leaves nothing of ${between} in the results`, async (t) => {
    const at = lab(t, repository);
    const fails = between === "a run that failed";
    const text = `${at.name}/text.txt`;
    at.script("text.txt", "first\n");
    const more = `if grep -q second ${text}; then echo 0.99 > {outputs.all}/more.md; fi`;
    const check = fails
      ? `! grep -q second ${text} && echo checked > {outputs.c}`
      : "echo checked > {outputs.c}";
    at.define({
      stages: {
        made: {
          files: [text],
          command: `mkdir -p {outputs.all}; echo same > {outputs.all}/same.md; ${more}`,
          gives: { all: "dir" },
        },
        check: { files: [text], command: check, gives: { c: "file" } },
      },
    });
    await setTimeout(1100); // a fresh file has no fast path
    const said = await at.run();
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const before = results(at);
    repository.edit(text, "first", "second");
    await setTimeout(1100);
    const second = await (fails ? at.run() : at.run("--executor", "local"));
    assert.equal(second.code, fails ? 1 : 0, second.stdout + second.stderr);
    assert.notDeepEqual(results(at), before);
    repository.edit(text, "second", "first");
    await setTimeout(1100);
    assert.equal((await at.run()).code, 0);
    assert.deepEqual(results(at), before);
  });

test("a run with a stored plan runs what each edit reaches, and the next run notices every later edit", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  await setTimeout(1100); // a plan is not stored while one of its files is younger than a second
  const plans = join(at.root, ".mlrb/cache/memory/plans");
  /** Inodes: a plan that is stored again has another one. */
  const stored = () => readdirSync(plans).map((name) => statSync(join(plans, name)).ino);
  const runs = async (): Promise<string[]> => {
    const said = await at.run(); // no `plan` before it, which would store the plan
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const done = outcomes(said);
    return Object.keys(done).filter((stage) => done[stage] !== "reused");
  };
  repository.edit(`${at.name}/words.txt`, "alpha", "gamma");
  assert.deepEqual(await runs(), ["source", "upper", "length"]);
  const before = stored();
  assert.equal(before.length, 1, "a run stores its plan");
  repository.edit(`${at.name}/shout.ts`, "text.toUpperCase()", "text.toUpperCase().trim()");
  assert.deepEqual(await runs(), ["upper", "length"]);
  assert.deepEqual(await runs(), []);
  assert.deepEqual(stored(), before, "these runs took the stored plan");
  await setTimeout(1100);
  assert.deepEqual(await runs(), []); // leaves what lets the next run end at once
  repository.edit(`${at.name}/upper.ts`, "shout(text) +", 'shout(text) + "!" +');
  assert.deepEqual(await runs(), ["upper", "length"]);
  chain(at, (pipeline) => {
    pipeline.params = { ...pipeline.params, other: "two" };
  });
  assert.deepEqual(await runs(), ["apart"]);
  rmSync(join(repository.path, at.name, "upper.ts"));
  const said = await at.run();
  assert.equal(said.code, 2, said.stdout);
  assert.match(said.stdout + said.stderr, /upper\.ts/);
});

test("an edit that one stage of a run used and that is undone after it is no reason to end the next run at once", async (t) => {
  const at = lab(t, repository);
  at.script("shared.ts", 'export const word = "first";\n');
  const script = `import { writeFileSync } from "node:fs";
import { stage } from "@mlrb/kit/stage";
import { word } from "./shared.ts";
writeFileSync(stage().outputs.text!, word);
`;
  for (const name of ["early", "late"]) at.script(`${name}.ts`, script);
  const wait = waiting(at);
  at.define({
    stages: {
      early: { script: `${at.name}/early.ts`, gives: { text: "file" } },
      slow: {
        needs: ["early.text"],
        command: `${wait.command}; echo > {outputs.done}`,
        gives: { done: "file" },
      },
      late: { needs: ["slow.done"], script: `${at.name}/late.ts`, gives: { text: { file: "late.txt" } } },
    },
  });
  await setTimeout(1100); // what is younger has no fast path
  assert.equal((await at.run("--only", "early")).code, 0); // now the digests of the sources are known
  const running = at.run();
  await wait.begun();
  repository.edit(`${at.name}/shared.ts`, "first", "second");
  await setTimeout(1100);
  wait.go();
  const said = await running;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(results(at)[`${at.name}/default/late.txt`], "second");
  repository.edit(`${at.name}/shared.ts`, "second", "first");
  assert.equal((await at.run()).code, 0);
  assert.equal(results(at)[`${at.name}/default/late.txt`], "first");
});

test("a source that is a pipe is refused", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  const path = join(repository.path, at.name, "words.txt");
  rmSync(path);
  execFileSync("mkfifo", [path]);
  t.after(() => rmSync(path));
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(said.stdout + said.stderr, /words\.txt cannot be read: it is a pipe, a socket or a device/);
});

test("a changed comment, type, formatting or unused function in a script and its imports reruns nothing", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  repository.edit(`${at.name}/upper.ts`, "// Writes its input in capitals.", "// Says it\n// louder.\n");
  repository.edit(`${at.name}/upper.ts`, "const text: string =", "const text =\n   ");
  repository.edit(`${at.name}/shout.ts`, "(text: string): string", "(text: string | never)");
  repository.edit(`${at.name}/shout.ts`, "return 1;", "return 2;");
  // enough rare letters to change any choice by letter frequency
  const types = Array.from(
    "zqxjvkwZQXJVKW",
    (letter) => `type ${letter.repeat(9)} = "${letter.repeat(40)}";`,
  );
  at.script("shout.ts", `${types.join("\n")}\n${repository.read(`${at.name}/shout.ts`)}`);
  const kit = repository.read("runners/kit/src/json-file.ts");
  repository.write("runners/kit/src/json-file.ts", `${kit}\n// a remark at the end\n`);
  t.after(() => repository.write("runners/kit/src/json-file.ts", kit));
  assert.deepEqual((await rerun(at)).ran, []);
});

test("a change of logic in a script reruns its stage and later stages, and the reason names the script", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  repository.edit(`${at.name}/upper.ts`, "shout(text) +", 'shout(text) + "!" +');
  const { ran: again, why } = await rerun(at);
  assert.deepEqual(again, ["length", "upper"]);
  assert.deepEqual(why("upper"), [{ kind: "code-changed", file: `${at.name}/upper.ts` }]);
  assert.deepEqual(why("length"), [{ kind: "input-changed", input: "text", stage: "upper" }]);
});

test("a change of logic in a local import reruns its users, and the reason names the import, not the script", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  repository.edit(`${at.name}/shout.ts`, "toUpperCase", "toLowerCase");
  const { ran: again, why } = await rerun(at);
  assert.ok(again.includes("upper") && !again.includes("source") && !again.includes("apart"));
  assert.deepEqual(why("upper"), [{ kind: "code-changed", file: `${at.name}/shout.ts` }]);
});

test("a change of logic in a module of kit reruns the stages that import it, and the reason names the module", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  const kit = repository.read("runners/kit/src/stage.ts");
  t.after(() => repository.write("runners/kit/src/stage.ts", kit));
  // of the runner itself this file only gives types, so only the stage's script can notice
  repository.edit("runners/kit/src/stage.ts", 'stage: "by hand"', 'stage: "by a hand"');
  const { ran: again, why } = await rerun(at);
  assert.deepEqual(again, ["upper"]);
  assert.deepEqual(why("upper"), [{ kind: "code-changed", file: "runners/kit/src/stage.ts" }]);
});

test("JSON that a script imports is part of its code: a value changes its key, white space does not", async (t) => {
  const at = lab(t, repository);
  at.script("words.json", '{ "word": "one" }\n');
  const script = at.script(
    "say.ts",
    'import { writeFileSync } from "node:fs";\nimport words from "./words.json" with { type: "json" };\nimport { stage } from "@mlrb/kit/stage";\nwriteFileSync(stage().outputs.text!, words.word);\n',
  );
  at.define({ stages: { say: { script, gives: { text: "file" } } } });
  const first = await at.run();
  assert.deepEqual([first.code, outcomes(first)], [0, { say: "succeeded" }], first.stderr);
  at.script("words.json", '{\n  "word": "one"\n}\n');
  assert.deepEqual(outcomes(await at.run()), { say: "reused" });
  at.script("words.json", '{ "word": "two" }\n');
  const planned = await at.plan();
  assert.deepEqual(reasons(planned, "say"), [{ kind: "code-changed", file: `${at.name}/words.json` }]);
});

test("early cutoff: if a changed script writes the same bytes, everything after it is reused", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  repository.edit(`${at.name}/upper.ts`, "shout(text) +", 'shout(text) + "".repeat(3) + text.slice(0, 0) +');
  assert.deepEqual((await rerun(at)).ran, ["upper"]);
});

test("a changed declared file reruns its stage, and the reason names the file; an undeclared neighbour reruns nothing", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  at.script("neighbour.txt", "new");
  assert.deepEqual((await rerun(at)).ran, []);
  at.script("words.txt", "gamma delta\n");
  const { ran: again, why } = await rerun(at);
  assert.deepEqual(again.slice(-2), ["source", "upper"]);
  assert.deepEqual(why("source"), [{ kind: "file-changed", file: `${at.name}/words.txt` }]);
});

test("a file that joins or leaves a declared pattern reruns its stage, and the reason names it", async (t) => {
  const at = lab(t, repository);
  at.script("parts/a.txt", "a\n");
  at.define({
    stages: {
      join: {
        files: [`${at.name}/parts/**`],
        command: `cat ${at.name}/parts/* > {outputs.text}`,
        gives: { text: "file" },
      },
    },
  });
  await at.run();
  at.script("parts/b.txt", "b\n");
  const { why } = await rerun(at);
  assert.deepEqual(why("join"), [{ kind: "file-changed", file: `${at.name}/parts/b.txt` }]);
  assert.equal(results(at)[`${at.name}/default/text`], "a\nb\n");
});

test("a file changed within the same second, at the same size, is noticed", async (t) => {
  const at = lab(t, repository);
  at.script("words.txt", "1111");
  at.define({
    stages: {
      copy: {
        files: [`${at.name}/words.txt`],
        command: `cat ${at.name}/words.txt > {outputs.text}`,
        gives: { text: "file" },
      },
    },
  });
  for (const text of ["1111", "2222", "3333"]) {
    at.script("words.txt", text);
    await at.run();
    assert.equal(results(at)[`${at.name}/default/text`], text);
  }
});

test("a param reruns the stages that use it, with its name in the reason, and no others", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  chain(at, (pipeline) => Object.assign(pipeline.params!, { other: "two" }));
  const other = await rerun(at);
  assert.deepEqual(other.ran, ["apart"]);
  assert.deepEqual((other.why("apart") as { kind: string }[]).map(({ kind }) => kind).sort(), [
    "code-changed",
    "params-changed",
  ]);
  chain(at, (pipeline) => Object.assign(pipeline.params!, { other: "two", mark: "two!" }));
  const mark = await rerun(at);
  assert.deepEqual(mark.ran, ["length", "upper"]);
  assert.deepEqual(mark.why("upper"), [{ kind: "params-changed", names: ["mark"] }]);
});

test("a budget and a variable's value rerun their stage with that reason; a limit, resources and a title do not", async (t) => {
  const at = lab(t, repository);
  const define = (more: object) =>
    at.define({
      stages: {
        say: {
          command: 'echo "$WORD" > {outputs.text}',
          env: { WORD: "a" },
          budget: { time: "10s" },
          gives: { text: "file" },
          ...more,
        },
      },
    });
  define({});
  await at.run();
  define({ limits: { time: "1h" }, resources: { cpus: 2, memory: "1GiB" }, title: "Says a word" });
  assert.deepEqual((await rerun(at)).ran, []);
  define({ budget: { time: "20s" } });
  assert.deepEqual((await rerun(at)).why("say"), [{ kind: "budget-changed" }]);
  define({ budget: { time: "20s" }, env: { WORD: "b" } });
  assert.deepEqual((await rerun(at)).why("say"), [{ kind: "env-changed", names: ["WORD"] }]);
  assert.equal(results(at)[`${at.name}/default/text`], "b\n");
  define({ budget: { time: "20000ms" }, env: { WORD: "b" } });
  assert.deepEqual((await rerun(at)).ran, [], "the same budget in other units is the same");
});

test("undoing a change reuses the earlier result", async (t) => {
  const at = lab(t, repository);
  await ran(at);
  const first = results(at);
  repository.edit(`${at.name}/upper.ts`, "shout(text) +", 'shout(text) + "!" +');
  await at.run();
  assert.notDeepEqual(results(at), first);
  repository.edit(`${at.name}/upper.ts`, 'shout(text) + "!" +', "shout(text) +");
  assert.deepEqual((await rerun(at)).ran, []);
  assert.deepEqual(results(at), first);
});

test("the order of stages, axes' values and keys in the YAML changes nothing", async (t) => {
  const at = lab(t, repository);
  const make = {
    command: counted(at, "make-{word}", "echo {word} > {outputs.text}"),
    each: ["word"],
    gives: { text: "file" },
  };
  const join = {
    collect: ["make.text"],
    command: "cat {inputs.manifest} > {outputs.all}",
    gives: { all: "file" },
  };
  at.define({ axes: { word: ["a", "b"] }, stages: { make, join } });
  await at.run();
  const { each, ...rest } = make;
  at.define({ axes: { word: ["a", "b"] }, stages: { join, make: { each, ...rest } } });
  assert.deepEqual((await rerun(at)).ran, []);
});

test("instances that are blind to an axis do equal work once", async (t) => {
  const at = lab(t, repository);
  at.define({
    axes: { word: ["a", "b", "c"] },
    stages: {
      same: {
        each: ["word"],
        keyed: [],
        command: counted(at, "same", "echo x > {outputs.text}"),
        gives: { text: "file" },
      },
    },
  });
  const said = await at.run();
  assert.deepEqual(at.executions(), { same: 1 });
  assert.deepEqual(Object.values(outcomes(said)).sort(), ["reused", "reused", "succeeded"]);
});

test("if a file changes while its stage runs, the result is not stored under the old key", async (t) => {
  const at = lab(t, repository);
  const script = at.script(
    "slow.ts",
    `import { execFileSync } from "node:child_process";\nimport { writeFileSync } from "node:fs";\nimport { stage } from "@mlrb/kit/stage";\nconst { outputs } = stage();\nwriteFileSync(outputs.text!, "made by the old code");\nexecFileSync("sh", ["-c", "echo 'console.log(1);' >> \\"$EDIT\\""]);\n`,
  );
  at.define({
    stages: {
      slow: {
        script,
        programs: true,
        env: { EDIT: join(repository.path, script) },
        gives: { text: "file" },
      },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(said.stdout, /"failure":"code-changed"/);
  assert.deepEqual(actionsIn(at.root), []);
});

test("an edit of a declared file that is undone while a stage runs prevents storing its result under the key", async (t) => {
  const at = lab(t, repository);
  const word = at.script("word.txt", "right\n");
  const kept = join(at.outside, "kept.txt");
  const command = `cp -p ${word} ${kept}; echo wrong > ${word}; cat ${word} > {outputs.text}; cat ${kept} > ${word}; touch -r ${kept} ${word}`;
  at.define({ stages: { say: { command, files: [word], gives: { text: "file" } } } });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(lineOf(said, "say").cause, /^code-changed: .*word\.txt changed while it ran; run again$/);
  assert.deepEqual(actionsIn(at.root), []);
});

test("a backup, a hard link, a mode and a time of a stage's files leave its result; an undone edit repeats the stage once", async (t) => {
  const at = lab(t, repository);
  const word = at.script("word.txt", "right\n");
  const folder = join(repository.path, at.name);
  const told = `cp -al ${folder} ${at.outside}/copy && rm -r ${at.outside}/copy && chmod u-w ${word} && chmod u+w ${word} && touch ${word}`;
  const say = (command: string) => ({ command, files: [word], gives: { text: "file" } });
  at.define({ stages: { say: say(counted(at, "say", `${told} && cat ${word} > {outputs.text}`)) } });
  assert.deepEqual(outcomes(await at.run()), { say: "succeeded" });
  assert.deepEqual(at.executions(), { say: 1 });
  assert.deepEqual(outcomes(await at.run()), { say: "reused" });
  const edit = `if mkdir ${at.outside}/once; then echo wrong > ${word}; cat ${word} > {outputs.text}; echo right > ${word}; else cat ${word} > {outputs.text}; fi`;
  at.define({ stages: { say: say(edit) } });
  const repeated = await at.run();
  assert.deepEqual(outcomes(repeated), { say: "succeeded" }, repeated.stdout);
  assert.deepEqual(Object.values(results(at)), ["right\n"]);
  assert.match(
    JSON.stringify(filesBelow(join(at.root, ".mlrb/journals"))),
    /word\.txt may have changed while it ran, and is now as it was before; the stage runs once more/,
  );
});

test("a file that a stage adds to its declared folder and removes again prevents storing its result; a swap file does not", async (t) => {
  const at = lab(t, repository);
  at.script("data/a.txt", "a\n");
  const data = `${at.name}/data`;
  const say = (name: string) => ({
    command: `echo z > ${data}/${name}; cat ${data}/* > {outputs.text}; rm ${data}/${name}`,
    files: [`${data}/**`],
    gives: { text: "file" },
  });
  at.define({ stages: { adds: say("z.txt") } });
  const said = await at.run();
  assert.equal(
    lineOf(said, "adds").cause,
    `code-changed: ${data}/z.txt appeared or disappeared while the stage ran; run again, and have the stage write its own files below TMPDIR`,
  );
  assert.deepEqual(actionsIn(at.root), []);
  at.define({ stages: { edits: say(".a.txt.swp") } });
  assert.deepEqual(outcomes(await at.run()), { edits: "succeeded" });
  assert.deepEqual(outcomes(await at.run()), { edits: "reused" });
});

test("an edit in place that keeps size and time is noticed in a script, its import, a declared file and at a no-op", async (t) => {
  const at = lab(t, repository);
  const inner = at.script("inner.ts", 'export const word = "one";\n');
  const file = at.script("word.txt", "one\n");
  const script = at.script(
    "say.ts",
    'import { writeFileSync } from "node:fs";\nimport { stage } from "@mlrb/kit/stage";\nimport { word } from "./inner.ts";\nwriteFileSync(stage().outputs.text!, word);\n',
  );
  at.define({
    stages: {
      say: { script, gives: { text: "file" } },
      copy: { command: `cat ${file} > {outputs.copy}`, files: [file], gives: { copy: "file" } },
    },
  });
  const old = new Date(Date.now() - 60_000);
  for (const one of [inner, file, script]) utimesSync(join(repository.path, one), old, old);
  await setTimeout(1100); // a file changed within the last second is not remembered by its stat
  assert.equal((await at.run()).code, 0);
  assert.deepEqual(outcomes(await at.run()), { say: "reused", copy: "reused" });
  for (const one of [inner, file]) {
    const path = join(repository.path, one);
    const { ino, size } = statSync(path);
    const handle = openSync(path, "r+");
    writeSync(handle, readFileSync(path, "utf8").replace("one", "two"), 0);
    closeSync(handle);
    utimesSync(path, old, old);
    assert.deepEqual([statSync(path).ino, statSync(path).size], [ino, size]);
  }
  const planned = await at.plan();
  assert.deepEqual(reasons(planned, "say"), [{ kind: "code-changed", file: inner }]);
  assert.deepEqual(reasons(planned, "copy"), [{ kind: "file-changed", file }]);
  assert.deepEqual(outcomes(await at.run()), { say: "succeeded", copy: "succeeded" });
});

test("another order of an axis' values reruns nothing, not even a stage that collects them", async (t) => {
  const at = lab(t, repository);
  const define = (seeds: number[]) =>
    at.define({
      axes: { seed: seeds },
      stages: {
        say: { each: ["seed"], command: "echo {seed} > {outputs.text}", gives: { text: "file" } },
        all: {
          collect: ["say.text"],
          command: "cat {inputs.manifest} > {outputs.list}",
          gives: { list: "file" },
        },
      },
    });
  define([1, 2, 10]);
  assert.equal((await at.run()).code, 0);
  define([10, 2, 1]);
  assert.deepEqual(new Set(Object.values(outcomes(await at.plan()))), new Set(["reuse"]));
  assert.deepEqual(new Set(Object.values(outcomes(await at.run()))), new Set(["reused"]));
});

test("a stage's key contains nothing volatile: two runs on new roots make the same keys", async (t) => {
  const [one, two] = [lab(t, repository), lab(t, repository)];
  await ran(one);
  const keys = (at: Lab) => actionsIn(at.root).map(({ key }) => key);
  await two.pipeline(["run", one.name, "--root", two.root, "--json"]);
  assert.ok(keys(one).length === 4);
  assert.deepEqual(keys(two), keys(one));
});

test("a Python stage reruns if the logic of an import changes, and not for its docstring", async (t) => {
  const at = lab(t, repository);
  shareEnvironments(at.root);
  const lock = "pipelines/environments/tools.lock";
  const script = at.script(
    "run.py",
    'import json, os\nfrom helper import word\nout = json.load(open(os.environ["MLRB_STAGE"]))["outputs"]["text"]\nopen(out, "w").write(word())\n',
  );
  const helper = (text: string) => at.script("helper.py", text);
  helper('def word():\n    return "one"\n');
  at.define({
    stages: { say: { python: script, environment: lock, gives: { text: { file: "said.txt" } } } },
  });
  const outcome = async () => outcomes(await at.run()).say;
  assert.equal(await outcome(), "succeeded");
  helper('"""Words."""\n\n\ndef word() -> str:\n    # a word\n    return "one"\n');
  assert.equal(await outcome(), "reused");
  helper('def word():\n    return "two"\n');
  const said = await at.run();
  assert.deepEqual(reasons(said, "say"), [{ kind: "code-changed", file: `${at.name}/helper.py` }]);
  assert.deepEqual(Object.values(results(at)), ["two"]);
  at.script("json.py", 'load = __import__("importlib").import_module("_json_of_mine").load\n');
  at.script(
    "_json_of_mine.py",
    'load = lambda file: __import__("ast").literal_eval(file.read().replace("true", "True").replace("null", "None"))\n',
  );
  const shadowed = await at.run();
  assert.equal(outcomes(shadowed).say, "succeeded", shadowed.stderr);
  assert.deepEqual(reasons(shadowed, "say"), [{ kind: "code-changed", file: `${at.name}/json.py` }]);
});
