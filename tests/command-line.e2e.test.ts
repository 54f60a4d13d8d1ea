// What people and programs see of the command line: exit statuses, JSON lines, text output, pipes, and the effect
// of --root, --only and --set.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import {
  counted,
  type Lab,
  lab,
  leftovers,
  lineOf,
  outcomes,
  reasons,
  results,
  summary,
} from "./support/lab.ts";
import { until } from "./support/processes.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** Makes two words, counts each, and collects them. */
function words(at: Lab, more: object = {}): void {
  at.define({
    axes: { word: ["alpha", "beta"] },
    stages: {
      make: {
        each: ["word"],
        command: counted(at, "make-{word}", "printf %s {word} > {outputs.text}"),
        gives: { text: "file" },
      },
      size: {
        each: ["word"],
        needs: ["make.text"],
        command: "wc -c < {inputs.text} > {outputs.count}",
        gives: { count: "file" },
      },
      gather: {
        collect: ["size.count"],
        command:
          'cat {inputs.manifest} > {outputs.all}; cat "$(dirname {inputs.manifest})"/members/* > {outputs.sums}',
        gives: { all: { file: "all.json" }, sums: "file" },
      },
    },
    ...more,
  });
}

test("a run prints one JSON line for each stage instance, in the agreed shape, and the summary last", async (t) => {
  const at = lab(t, repository);
  words(at);
  const said = await at.run();
  assert.equal(said.code, 0, said.stderr);
  const stages = said.lines.slice(0, -1);
  assert.deepEqual(stages.map(({ stage }) => stage).sort(), [
    "gather",
    "make[word=alpha]",
    "make[word=beta]",
    "size[word=alpha]",
    "size[word=beta]",
  ]);
  for (const line of stages) {
    assert.equal(line.event, "stage");
    assert.equal(line.name, line.stage.replace(/\[.*/, ""));
    assert.equal(line.outcome, "succeeded");
    assert.deepEqual(line.reasons, [{ kind: "first-run" }]);
    assert.ok(Number.isInteger(line.durationMs) && line.durationMs >= 0);
  }
  const last = summary(said);
  assert.equal(last.pipeline, at.name);
  assert.equal(last.profile, "default");
  assert.deepEqual(last.outcomes, { succeeded: 5, reused: 0, failed: 0, skipped: 0, cancelled: 0 });
  assert.ok(Number.isInteger(last.durationMs));
  assert.equal(said.stderr, "", "--json prints nothing else");
});

test("a plan says run or reuse and whether this is certain, runs nothing, and agrees with the following run", async (t) => {
  const at = lab(t, repository);
  words(at);
  const before = await at.plan();
  assert.equal(before.code, 0, before.stderr);
  assert.deepEqual(outcomes(before), {
    "make[word=alpha]": "run",
    "make[word=beta]": "run",
    "size[word=alpha]": "run",
    "size[word=beta]": "run",
    gather: "run",
  });
  assert.equal(lineOf(before, "make[word=alpha]").certain, true);
  assert.equal(lineOf(before, "size[word=alpha]").certain, false, "what it reads is made first");
  assert.deepEqual(reasons(before, "size[word=alpha]"), [
    { kind: "upstream-runs", stage: "make[word=alpha]" },
  ]);
  assert.deepEqual(at.executions(), {});
  assert.deepEqual(results(at), {});

  await at.run();
  const then = await at.plan();
  assert.deepEqual(new Set(Object.values(outcomes(then))), new Set(["reuse"]));
  assert.ok(then.lines.slice(0, -1).every(({ certain, event }) => certain === true && event === "stage"));
  assert.equal(summary(then).pipeline, at.name);
});

test("without --json the output is text: what ran, how it ended, where the results are; no JSON, and no colour codes in a pipe", async (t) => {
  const at = lab(t, repository);
  words(at);
  const said = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(said.code, 0);
  assert.match(said.stdout, new RegExp(`${at.name} \\(default\\): 5 succeeded in `));
  assert.match(said.stdout, /results: .*results\/lab-/);
  assert.match(said.stderr, /start +make\[word=alpha\] +\(first run\)/);
  assert.match(said.stderr, /\[5\/5\] done +gather/);
  assert.doesNotMatch(said.stdout + said.stderr, /^\{/m);
  assert.doesNotMatch(said.stdout + said.stderr, /\u001b/);
  const plan = await at.pipeline(["plan", at.name, "--root", at.root], { env: { NO_COLOR: "1" } });
  assert.match(plan.stdout, /0 stages to run, 5 to reuse/);
  assert.doesNotMatch(plan.stdout, /^\{|\u001b/m);
});

test("on a terminal, live lines show running stages and their output, the end comes last, and nothing is coloured", async (t) => {
  if (spawnSync("script", ["--version"]).status !== 0)
    return t.skip("there is no `script` to make a terminal with");
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  at.define({
    stages: {
      slow: { command: `echo half way; while [ ! -e '${go}' ]; do sleep 0.05; done; exit 3` },
    },
  });
  const program = join(repository.path, "runners/cli/bin/pipeline.js");
  const line = `stty cols 60 rows 20; '${process.execPath}' ${nodeFlags.join(" ")} '${program}' run ${at.name} --root '${at.root}'`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "xterm", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const ended = once(child, "close");
  await until("the live lines to show what the stage says", () => stdout.includes("slow | half way"));
  assert.match(
    stdout,
    /0\/1 done, 1 running\u001b\[K\r?\n {2}\d s {2}slow/,
    "what runs now, and for how long",
  );
  writeFileSync(go, "");
  assert.equal((await ended)[0], 1, stdout);
  assert.doesNotMatch(stdout, /\u001b\[[0-9;]*m/);
  const last = stdout.slice(stdout.lastIndexOf("\u001b[J")).replaceAll("\r", "").split("\n");
  assert.ok(last.length <= 20, "the last words fit this terminal");
  assert.match(
    last.join("\n"),
    /1 failed in [\s\S]*failed {2}slow\n.*exit-code.*\n {8}\| half way\n {8}pnpm pipeline log slow/,
  );
  assert.match(last.join("\n"), /next\n {2}pnpm pipeline run lab-/);
});

test("a reader that closes the pipe early (| head -1) does not stop the run or change its status", async (t) => {
  for (const [how, redirect] of [
    ["--json", ""],
    ["", "2>&1"],
  ] as const) {
    const at = lab(t, repository);
    at.define({
      stages: {
        first: { command: counted(at, "first") },
        // starts after the reader has closed, and ends after every other line was refused
        second: {
          command: counted(at, "second", "sleep 0.3; echo x > {outputs.text}"),
          gives: { text: "file" },
        },
        third: {
          needs: ["second.text"],
          command: counted(at, "third", "sleep 0.2; cat {inputs.text} > {outputs.text}"),
          gives: { text: "file" },
        },
      },
    });
    const program = join(repository.path, "runners/cli/bin/pipeline.js");
    const line = `{ '${process.execPath}' ${nodeFlags.join(" ")} '${program}' run ${at.name} --jobs 1 ${how} --root '${at.root}' ${redirect}; echo $? > '${at.outside}/status'; } | head -1`;
    const { stdout } = spawnSync("sh", ["-c", line], { encoding: "utf8", env: { PATH: process.env.PATH } });
    assert.equal(stdout.trimEnd().split("\n").length, 1);
    assert.deepEqual(at.executions(), { first: 1, second: 1, third: 1 });
    assert.equal(spawnSync("cat", [join(at.outside, "status")], { encoding: "utf8" }).stdout, "0\n");
    assert.deepEqual(leftovers(at), []);
    assert.deepEqual(summary(await at.run()).outcomes.reused, 3);
  }
});

test("--only updates the named stages and their needs, and the report shows what is known of the rest", async (t) => {
  const at = lab(t, repository);
  words(at);
  const narrow = await at.run("--only", "size[word=alpha]");
  assert.deepEqual(outcomes(narrow), { "make[word=alpha]": "succeeded", "size[word=alpha]": "succeeded" });
  assert.deepEqual(at.executions(), { "make-alpha": 1 });
  assert.deepEqual(results(at), {}, "nothing that is published was asked for");

  const gathered = await at.run("--only", "gather");
  assert.deepEqual(outcomes(gathered), { gather: "succeeded" });
  assert.deepEqual(at.executions(), { "make-alpha": 1 }, "a report does not pull its members in");
  const manifest = JSON.parse(results(at)[`${at.name}/default/all.json`]!);
  assert.deepEqual(
    manifest.members.map(({ stage, outcome }: { stage: string; outcome: string }) => [stage, outcome]),
    [
      ["size[word=alpha]", "succeeded"],
      ["size[word=beta]", "not-run"],
    ],
  );

  const globs = await at.run("--only", "m*[word=b*]", "--only", "make[word=alpha]");
  assert.deepEqual(outcomes(globs), { "make[word=alpha]": "reused", "make[word=beta]": "succeeded" });
});

test("--set narrows an axis, shares equal work with the full run, and publishes under the name of the selection", async (t) => {
  const at = lab(t, repository);
  words(at);
  assert.equal((await at.run()).code, 0);
  const whole = results(at);
  const said = await at.run("--set", "word=beta");
  assert.equal(said.code, 0);
  assert.deepEqual(outcomes(said), {
    "make[word=beta]": "reused",
    "size[word=beta]": "reused",
    gather: "succeeded",
  });
  const both = results(at);
  const folder = `${at.name}/default+word=beta`;
  assert.equal(both[`${folder}/sums`]?.trim(), "4");
  for (const [path, bytes] of Object.entries(whole)) assert.equal(both[path], bytes, "the whole one's stay");
  assert.equal(summary(said).results, `results/${folder}`);
  const several = await at.run("--set", "word=beta,alpha");
  assert.deepEqual(summary(several).results, `results/${at.name}/default+word=beta+alpha`);
});

test("results of a profile are under its name, and profiles share equal work", async (t) => {
  const at = lab(t, repository);
  at.define({
    params: { greeting: "good day" },
    profiles: {
      plain: { default: true },
      same: { params: { greeting: "good day" } },
      loud: { params: { greeting: "HEY" } },
    },
    stages: {
      greet: {
        params: { greeting: "{params.greeting}" },
        command: counted(at, "greet", "echo {params.greeting} > {outputs.text}"),
        gives: { text: "file" },
      },
    },
  });
  assert.equal(summary(await at.run()).profile, "plain");
  assert.deepEqual(outcomes(await at.run("--profile", "same")), { greet: "reused" });
  assert.deepEqual(outcomes(await at.run("--profile", "loud")), { greet: "succeeded" });
  assert.deepEqual(results(at), {
    [`${at.name}/loud/text`]: "HEY\n",
    [`${at.name}/plain/text`]: "good day\n",
    [`${at.name}/same/text`]: "good day\n",
  });
  assert.deepEqual(at.executions(), { greet: 2 });
});

test("a relative --root is relative to the folder of the command, also through pnpm", async (t) => {
  const at = lab(t, repository);
  words(at);
  assert.equal((await at.pipeline(["run", at.name, "--root", "near"], { cwd: at.outside })).code, 0);
  assert.ok(existsSync(join(at.outside, "near/.mlrb")) && existsSync(join(at.outside, "near/results")));
  const typedIn = join(at.outside, "typed-in");
  mkdirSync(typedIn);
  const env = { npm_lifecycle_event: "pipeline", INIT_CWD: typedIn };
  assert.equal((await at.pipeline(["run", at.name, "--root", "near"], { env })).code, 0);
  assert.ok(existsSync(join(typedIn, "near/.mlrb")));
  assert.ok(!existsSync(join(repository.path, "near")));
});

test("a root with spaces, quotes and non-Latin letters works, for commands and scripts", async (t) => {
  const at = lab(t, repository);
  const root = join(at.outside, `a rôot, "quoted" it's 研究 $HOME`);
  words(at);
  const said = await at.pipeline(["run", at.name, "--json", "--root", root]);
  assert.equal(said.code, 0, said.stdout);
  assert.equal(results({ root })[`${at.name}/default/sums`]?.replace(/\s+/g, " ").trim(), "5 4");
  assert.equal(summary(await at.pipeline(["run", at.name, "--json", "--root", root])).outcomes.reused, 5);
  assert.match((await at.pipeline(["log", "gather", "--root", root])).stdout, /== gather {2}succeeded/);
});

test("a repository path with spaces and non-Latin letters works, for commands and scripts", async (t) => {
  const odd = throwAwayRepository("my répo, 50% of it's 研究");
  t.after(() => odd.remove());
  const at = lab(t, odd);
  const script = at.script(
    "hi.ts",
    'import { stage } from "@mlrb/kit/stage";\nimport { writeFileSync } from "node:fs";\nwriteFileSync(stage().outputs.text!, "hi");\n',
  );
  at.define({ stages: { greet: { script, files: [`${at.name}/*.ts`], gives: { text: "file" } } } });
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout);
  assert.equal(results(at)[`${at.name}/default/text`], "hi");
  assert.deepEqual(outcomes(await at.run()), { greet: "reused" });
  const checked = await at.pipeline(["check"]);
  assert.equal(checked.code, 0, checked.stderr);
});

test("log shows the last output of a stage, also by pattern, and reports if nothing matches", async (t) => {
  const at = lab(t, repository);
  at.define({
    axes: { word: ["alpha", "beta"] },
    stages: {
      say: { each: ["word"], command: "echo I say {word}; echo and {word} again >&2; test {word} = alpha" },
    },
  });
  const nothing = await at.pipeline(["log", "say", "--root", at.root]);
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /nothing has run here yet/);
  assert.equal((await at.run()).code, 1);
  const one = await at.pipeline(["log", "say[word=beta]", "--root", at.root]);
  assert.equal(one.code, 0);
  assert.match(one.stdout, /^== say\[word=beta\] {2}failed .*\nI say beta\nand beta again\n$/);
  const all = await at.pipeline(["log", "s*", "--root", at.root, "--json"]);
  assert.deepEqual(
    all.lines.map(({ event, stage, outcome, text }) => [event, stage, outcome, text]),
    [
      ["log", "say[word=alpha]", "succeeded", "I say alpha\nand alpha again\n"],
      ["log", "say[word=beta]", "failed", "I say beta\nand beta again\n"],
    ],
  );
  await at.run("--set", "word=alpha");
  assert.match(
    (await at.pipeline(["log", "say[word=alpha]", "--root", at.root])).stdout,
    /I say alpha/,
    "reuse leaves the log",
  );
  const none = await at.pipeline(["log", "sai", "--root", at.root]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /nothing-selected: .*\n {2}help: /);
});

test("the log of a running run distinguishes running stages from killed ones", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      slow: { command: `echo here I am; while [ ! -e '${join(at.outside, "go")}' ]; do sleep 0.05; done` },
    },
  });
  const { ended, child } = startProgram(repository.path, ["run", at.name, "--json", "--root", at.root]);
  t.after(() => child.kill("SIGKILL"));
  await until("the stage to speak", () => {
    const logs = join(at.root, ".mlrb/journals/logs");
    return existsSync(logs) && readdirSync(logs).length > 0;
  });
  const said = await until("its words", () => {
    const { stdout } = spawnSync(
      process.execPath,
      [...nodeFlags, join(repository.path, "runners/cli/bin/pipeline.js"), "log", "slow", "--root", at.root],
      { encoding: "utf8" },
    );
    return stdout.includes("here I am") && stdout;
  });
  assert.match(said, /== slow {2}running or killed/);
  spawnSync("touch", [join(at.outside, "go")]);
  assert.equal((await ended).code, 0);
});
