// An invalid request exits with 2 before anything is run or written. All its problems are shown at once, with
// place and fix.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { counted, type Lab, lab } from "./support/lab.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** Refused: nothing ran, and no state folder was made. */
function refused(at: Lab, said: ProgramOutput): void {
  assert.equal(said.code, 2, `${said.stdout}${said.stderr}`);
  assert.deepEqual(at.executions(), {});
  assert.ok(!existsSync(at.root), "no state was made");
  assert.doesNotMatch(said.stderr, /^\s+at /m, "no trace of a crash");
}

function good(at: Lab): void {
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles: { plain: { default: true } },
    stages: { make: { each: ["word"], command: counted(at, "make") } },
  });
}

const broken: { name: string; text: string; codes: string[] }[] = [
  {
    name: "YAML that does not parse shows every place where it breaks",
    text: "formatVersion: 1\nname: NAME\nname: twice\nstages:\n\tmake: { command: true }\n",
    codes: ["duplicate", "yaml-syntax"],
  },
  {
    name: "wrong types, missing units and unknown keys are shown together",
    text: `formatVersion: 1
nmae: NAME
stages:
  make: { command: [true], limits: { time: 30 }, resources: { cpus: many, memory: 4 }, durable: "yes", nedes: [] }
`,
    codes: [
      "missing-unit",
      "missing-unit",
      "unknown-key",
      "unknown-key",
      "wrong-type",
      "wrong-type",
      "wrong-type",
    ],
  },
  {
    name: "unknown names of axes, stages, outputs, files and placeholders are shown together",
    text: `formatVersion: 1
name: NAME
axes: { word: [a] }
stages:
  make: { each: [wrod], command: echo, gives: { text: file } }
  use: { needs: [make.txet], command: echo }
  take: { needs: [maek.text], command: echo }
`,
    codes: ["unknown-axis", "unknown-output", "unknown-stage"],
  },
  {
    name: "a missing script and unknown placeholders are shown together",
    text: `formatVersion: 1
name: NAME
stages:
  make: { script: pipelines/steps/atempt.ts }
  use: { command: "echo {wrod}" }
  wait: { command: echo, limits: { time: "{params.none}" } }
`,
    codes: ["unknown-file", "unknown-placeholder", "unknown-placeholder"],
  },
  {
    name: "unknown tasks, agents and scorers are shown together",
    text: `formatVersion: 1
name: NAME
axes: { task: [baby-ml], agent: [refrence] }
stages:
  make: { each: [task, agent], command: "echo {task.title} {agent.title}" }
`,
    codes: ["unknown-agent", "unknown-task"],
  },
  {
    name: "a cycle is shown",
    text: `formatVersion: 1
name: NAME
stages:
  a: { needs: [b.x], command: echo, gives: { x: file } }
  b: { needs: [a.x], command: echo, gives: { x: file } }
`,
    codes: ["cycle"],
  },
  {
    name: "an unknown executor in the file is shown",
    text: `formatVersion: 1
name: NAME
stages:
  a: { command: echo, executor: slrum }
`,
    codes: ["unknown-executor"],
  },
  {
    name: "missing keys are shown",
    text: "formatVersion: 1\naxes: { word: [a] }\n",
    codes: ["missing-key", "missing-key"],
  },
  {
    name: "a newer format is refused",
    text: "formatVersion: 2\nname: NAME\nstages: { a: { command: x } }\n",
    codes: ["format-version"],
  },
  { name: "an empty file is refused", text: "", codes: ["wrong-type"] },
];

for (const { name, text, codes } of broken) {
  test(`${name}; exit 2, nothing run`, async (t) => {
    const at = lab(t, repository);
    const file = `pipelines/${at.name}.yaml`;
    repository.write(file, text.replaceAll("NAME", at.name));
    const run = await at.run();
    refused(at, run);
    assert.deepEqual(run.lines.map(({ code }) => code).sort(), codes, run.stderr);
    for (const line of run.lines) {
      assert.equal(line.event, "problem");
      assert.equal(line.file, file);
      assert.ok(line.line >= 1 && line.column >= 1);
      assert.ok(run.stderr.includes(`${file}:${line.line}:${line.column} ${line.code}: ${line.message}`));
    }
    assert.match(run.stderr, new RegExp(`${codes.length} problems?; nothing was run\n$`));
    refused(at, await at.plan());
    const check = await at.pipeline(["check", file, "--json"]);
    assert.equal(check.code, 2);
    assert.deepEqual(check.lines.map(({ code }) => code).sort(), codes);
    repository.write(file, "formatVersion: 1\nname: mended\n"); // leave no file that breaks `check` of all
  });
}

test("a problem is shown with its line, a caret under it and the name that was probably meant", async (t) => {
  const at = lab(t, repository);
  repository.write(
    `pipelines/${at.name}.yaml`,
    `formatVersion: 1\nname: ${at.name}\nstages:\n  make: { command: echo, limits: { time: 30 } }\n  use: { needs: [maek.text], command: echo }\n`,
  );
  const first = await at.run();
  assert.equal(
    first.stderr,
    `pipelines/${at.name}.yaml:4:42 missing-unit: "time" is 30 without a unit
  4 |   make: { command: echo, limits: { time: 30 } }
    |                                          ^^
  help: write a duration with its unit, e.g. 90s, 30m or 24h

pipelines/${at.name}.yaml:5:18 unknown-stage: no stage named "maek"
  5 |   use: { needs: [maek.text], command: echo }
    |                  ^^^^
  help: did you mean "make"?

2 problems; nothing was run
`,
  );
});

const requests: { args: string[]; says: RegExp }[] = [
  {
    args: ["--profile", "plian"],
    says: /unknown-profile: .* has no profile "plian"\n {2}help: did you mean "plain"\?/,
  },
  { args: ["--set", "wrod=alpha"], says: /unknown-axis: .*"wrod"\n {2}help: did you mean "word"\?/ },
  { args: ["--set", "word=alpah"], says: /"alpah"[\s\S]*did you mean "alpha"/ },
  { args: ["--set", "word"], says: /bad-set: --set word is not axis=value\n {2}help: / },
  { args: ["--set", "word="], says: /bad-set: / },
  { args: ["--only", "maek"], says: /nothing-selected: .*"maek"\n {2}help: did you mean "make"\?/ },
  { args: ["--only", "make[word=gamma]"], says: /nothing-selected: .*\n {2}help: e\.g\. make\[word=alpha\]/ },
  { args: ["--only", "make[word=alpha"], says: /nothing-selected: / },
  { args: ["--executor", "slrum"], says: /unknown-executor: .*"slrum"/ },
  { args: ["--jobs", "0"], says: /bad-jobs: --jobs 0 is not a whole number above 0/ },
  { args: ["--jobs", "two"], says: /bad-jobs: --jobs two/ },
  { args: ["--jobs", "1.5"], says: /bad-jobs: --jobs 1\.5/ },
  { args: ["--jobs", ""], says: /blank-value: --jobs / },
  { args: ["--only", ""], says: /blank-value: --only is blank\n {2}help: .*variable/ },
  { args: ["--only", "make", "--only", " "], says: /blank-value: --only / },
  { args: ["--only", "[]"], says: /blank-pattern: / },
  { args: ["--set", ""], says: /blank-value: --set / },
  { args: ["--jbos", "2"], says: /--jbos[\s\S]*--jobs/ },
  { args: ["--rerun", "--accept-stale", "x"], says: /--rerun/ },
  { args: ["surplus"], says: /too many arguments/ },
];

for (const { args, says } of requests) {
  test(`run … ${args.join(" ")} is refused with a fix; exit 2, nothing run`, async (t) => {
    const at = lab(t, repository);
    good(at);
    const said = await at.run(...args);
    refused(at, said);
    assert.match(said.stderr, says);
    for (const { event } of said.lines) assert.equal(event, "problem", "nothing but JSON on stdout");
  });
}

test("several wrong options are all shown at once", async (t) => {
  const at = lab(t, repository);
  good(at);
  const codes = async (...args: string[]) => {
    const said = await at.run(...args);
    refused(at, said);
    return said.lines.map(({ code }) => code).sort();
  };
  assert.deepEqual(await codes("--set", "wrod=alpha", "--executor", "slrum"), [
    "unknown-axis",
    "unknown-executor",
  ]);
  assert.deepEqual(await codes("--set", "wrod=alpha", "--set", "word=alpah"), [
    "unknown-axis",
    "unknown-value",
  ]);
  assert.deepEqual(await codes("--only", "maek", "--only", "mkae"), ["nothing-selected", "nothing-selected"]);
});

test("an unknown pipeline is refused, with the name that was probably meant", async (t) => {
  const at = lab(t, repository);
  for (const name of ["helo", "pipelines/helo.yaml", "../hello.yaml", "", "hello.yaml/", "/etc/passwd"]) {
    const said = await at.pipeline(["run", name, "--json", "--root", at.root]);
    refused(at, said);
    assert.match(said.stderr, /unknown-(pipeline|file): /, name);
    for (const { event } of said.lines) assert.equal(event, "problem");
  }
  const near = await at.pipeline(["run", "helo", "--root", at.root]);
  assert.match(near.stderr, /no pipeline named "helo"\n {2}help: did you mean "hello"\?/);
});

for (const missing of ["@mlrb/kit/no-such-module", "@mlrb/nothing/at-all", "./no-such-file.ts"])
  test(`a pipeline as a program that imports ${missing} is refused with the importing file`, async (t) => {
    const at = lab(t, repository);
    repository.write(`pipelines/${at.name}.ts`, `import "${missing}";\nexport default {};\n`);
    const said = await at.pipeline(["plan", at.name, "--root", at.root]);
    assert.equal(said.code, 2, said.stdout);
    const name = missing.replace("@mlrb/nothing/at-all", "@mlrb/nothing").split("/").at(-1)!;
    assert.match(
      said.stderr,
      new RegExp(`Cannot find .*${name}.* imported from .*pipelines/${at.name}\\.ts`),
    );
  });

test("no command, an unknown command and a missing argument exit with 2; help exits with 0", async (t) => {
  const at = lab(t, repository);
  for (const args of [[], ["rnu", "hello"], ["run"], ["log"]])
    assert.equal((await at.pipeline(args)).code, 2, args.join(" "));
  const help = await at.pipeline(["--help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /pnpm pipeline run hello/);
});

test("every YAML file in the repository passes check", async (t) => {
  const clean = throwAwayRepository();
  t.after(() => clean.remove());
  const said = await lab(t, clean).pipeline(["check", "--json"]);
  assert.equal(said.code, 0, said.stderr);
  assert.ok(said.lines[0]!.checked >= 5);
});

test("a read-only command refuses a blank argument, which would match everything", async (t) => {
  const at = lab(t, repository);
  good(at);
  for (const args of [
    ["log", ""],
    ["explain", " ", "--pipeline", at.name],
    ["attempts", "stop", ""],
  ]) {
    const said = await at.pipeline([...args, "--root", at.root]);
    refused(at, said);
    assert.match(said.stderr, /^blank-value: (stage|attempt) is blank\n/);
  }
});
