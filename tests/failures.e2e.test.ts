// A failed stage reports how and why it failed, stops only the stages that need it, is never stored, and leaves no
// process and no folder behind.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  counted,
  filesBelow,
  type Lab,
  lab,
  leftovers,
  lineOf,
  outcomes,
  reasons,
  results,
  summary,
} from "./support/lab.ts";
import { isRunning, pidsIn, until } from "./support/processes.ts";
import { parseLines } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** `stage` next to an unrelated stage, a stage that needs it, and a report of all. */
function among(at: Lab, stage: Record<string, unknown>): void {
  at.define({
    axes: { word: ["good", "bad"] },
    stages: {
      odd: { each: ["word"], gives: { text: "file" }, ...stage },
      after: {
        each: ["word"],
        needs: ["odd.text"],
        command: "cp {inputs.text} {outputs.text}",
        gives: { text: "file" },
      },
      apart: { command: counted(at, "apart", "echo x > {outputs.text}"), gives: { text: "file" } },
      report: {
        collect: ["after.text", "odd.text"],
        command: "cat {inputs.manifest} > {outputs.all}",
        gives: { all: { file: "all.json" } },
      },
    },
  });
}

type Member = { stage: string; outcome: string; cause: string; artifacts: object };

const ways: { name: string; stage: Record<string, unknown>; failure: string; cause: RegExp; log?: RegExp }[] =
  [
    {
      name: "exits with a status other than 0",
      stage: { command: "echo about to fail; echo x > {outputs.text}; test {word} = good || exit 3" },
      failure: "exit-code",
      cause: /^exit-code: exit status 3$/,
      log: /about to fail/,
    },
    {
      name: "exceeds its memory limit in a child that left its group",
      stage: {
        command:
          "echo x > {outputs.text}; test {word} = good || { setsid python3 -c 'x = bytearray(400_000_000); import time; time.sleep(60)' & sleep 60; }",
        limits: { memory: "150MB" },
      },
      failure: "out-of-memory",
      cause: /^out-of-memory: held more than 150000000 bytes of memory$/,
      log: /limits\.memory/,
    },
    {
      name: "is ended by a signal",
      stage: { command: "echo x > {outputs.text}; test {word} = good || kill -SEGV $$" },
      failure: "exit-code",
      cause: /SIGSEGV/,
    },
    {
      name: "writes no output",
      stage: { command: "test {word} = bad || echo x > {outputs.text}" },
      failure: "missing-output",
      cause: /did not write its output "text"/,
    },
    {
      name: "makes a folder instead of a file",
      stage: { command: "test {word} = bad && mkdir {outputs.text} || echo x > {outputs.text}" },
      failure: "missing-output",
      cause: /output "text" is not a file/,
    },
    {
      name: "outputs a link instead of a file",
      stage: { command: "test {word} = bad && ln -s /etc/hosts {outputs.text} || echo x > {outputs.text}" },
      failure: "missing-output",
      cause: /output "text" .*(not a file|link)/,
    },
    {
      name: "outputs a link that leads nowhere",
      stage: {
        command: "test {word} = bad && ln -s /nowhere/at/all {outputs.text} || echo x > {outputs.text}",
      },
      failure: "missing-output",
      cause: /output "text"/,
    },
    {
      name: "names a missing program",
      stage: { command: ["no-such-program-{word}", "{outputs.text}"] },
      failure: "machine",
      cause: /no-such-program-bad/,
      log: /no-such-program-bad/,
    },
    {
      name: "does not end within its limit",
      stage: {
        command: "echo x > {outputs.text}; test {word} = good || sleep 60",
        limits: { time: "3s" },
      },
      failure: "time-limit",
      cause: /did not end within 3.*s/,
      log: /limits\.time/,
    },
  ];

for (const { name, stage, failure, cause, log } of ways) {
  test(`a stage that ${name}: clear outcome and cause, the rest continues, the report lists all, exit 1`, async (t) => {
    const at = lab(t, repository);
    among(at, stage);
    const said = await at.run();
    assert.equal(said.code, 1, said.stdout + said.stderr);
    const bad = lineOf(said, "odd[word=bad]");
    assert.equal(bad.outcome, "failed");
    assert.equal(bad.failure, failure);
    assert.match(bad.cause, cause);
    assert.doesNotMatch(bad.cause, /\n\s+at |\/\.mlrb\//, "neither a trace nor a path of this machine");
    const both = failure === "machine"; // a missing program is missing for both
    assert.deepEqual(outcomes(said), {
      "odd[word=good]": both ? "failed" : "succeeded",
      "odd[word=bad]": "failed",
      "after[word=good]": both ? "skipped" : "succeeded",
      "after[word=bad]": "skipped",
      apart: "succeeded",
      report: "succeeded",
    });
    assert.match(lineOf(said, "after[word=bad]").cause, /needs odd\[word=bad\]/);
    const manifest = JSON.parse(results(at)[`${at.name}/default/all.json`]!) as { members: Member[] };
    assert.deepEqual(manifest.members.map(({ stage }) => stage).sort(), [
      "after[word=bad]",
      "after[word=good]",
      "odd[word=bad]",
      "odd[word=good]",
    ]);
    const member = manifest.members.find((one) => one.stage === "odd[word=bad]")!;
    assert.equal(member.outcome, "failed");
    assert.match(member.cause, cause);
    assert.deepEqual(member.artifacts, {});
    assert.deepEqual(leftovers(at), []);
    if (log) assert.match((await at.pipeline(["log", "odd[word=bad]", "--root", at.root])).stdout, log);

    const again = await at.run();
    assert.equal(again.code, 1);
    assert.equal(lineOf(again, "odd[word=bad]").outcome, "failed", "a failure is not kept");
    assert.equal(lineOf(again, "apart").outcome, "reused");
    assert.deepEqual(at.executions(), { apart: 1 });
    const human = await at.pipeline(["run", at.name, "--root", at.root]);
    assert.equal(human.code, 1);
    assert.match(human.stderr, /FAILED +odd\[word=bad\] .*\n[\s\S]*pnpm pipeline log 'odd\[word=bad\]'/);
  });
}

test("a folder with a link is refused, and the link is named", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      make: {
        command: "mkdir {outputs.all}/deep; ln -s /etc/hosts {outputs.all}/deep/link",
        gives: { all: "dir" },
      },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(lineOf(said, "make").cause, /output "all" holds deep\/link, which is a link/);
});

test("a pipe among the outputs is refused, not read for ever", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      make: { command: "mkfifo {outputs.all}/pipe", gives: { all: "dir" } },
      one: { command: "mkfifo {outputs.text}", gives: { text: "file" } },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(lineOf(said, "make").cause, /holds pipe, which is not a plain file/);
  assert.match(lineOf(said, "one").cause, /output "text"/);
});

test("a script that throws, or does not parse, fails with the place in the log or the cause", async (t) => {
  const at = lab(t, repository);
  const throws = at.script("throws.ts", 'throw new Error("the data is not there");\n');
  const broken = at.script("broken.ts", "const = 1;\n");
  const lost = at.script("lost.ts", 'import "./nowhere.ts";\n');
  at.define({
    stages: {
      throws: { script: throws },
      broken: { script: broken },
      lost: { script: lost },
      apart: { command: "true" },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.deepEqual(outcomes(said), {
    throws: "failed",
    broken: "failed",
    lost: "failed",
    apart: "succeeded",
  });
  assert.match(
    (await at.pipeline(["log", "throws", "--root", at.root])).stdout,
    /throws\.ts:1[\s\S]*the data is not there/,
  );
  assert.match(lineOf(said, "broken").cause, /broken\.ts cannot be bundled: [\s\S]*broken\.ts:1/);
  assert.match(lineOf(said, "lost").cause, /nowhere\.ts/);
});

test("a stage whose code cannot be read fails alone, with its file, in run, plan, status, explain and check", async (t) => {
  const at = lab(t, repository);
  const broken = at.script("broken.ts", 'import { x } from "./inner.ts";\nconsole.log(x);\n');
  at.script("inner.ts", "export const x = 1;\nconst = 2;\n");
  at.script("words.json", "{}");
  const untyped = at.script("untyped.ts", 'import words from "./words.json";\nconsole.log(words);\n');
  at.script("words.txt", "words");
  const texts = at.script(
    "texts.ts",
    'import words from "./words.txt" with { type: "text" };\nconsole.log(words);\n',
  );
  const unlisted = at.script("unlisted.ts", 'import "left-pad-of-nobody";\n');
  const counted = at.script("counted.ts", 'import "./kinds.ts";\n');
  at.script("kinds.ts", "const a = 1;\nexport enum Kind {\n  a,\n}\n");
  at.define({
    stages: {
      broken: { script: broken },
      untyped: { script: untyped },
      texts: { script: texts },
      unlisted: { script: unlisted },
      counted: { script: counted },
      after: { command: "true", needs: ["apart.text"] },
      apart: { command: "echo x > {outputs.text}", gives: { text: "file" } },
    },
  });
  const failing = {
    broken: new RegExp(`${at.name}/inner\\.ts:2:7: `),
    untyped: /untyped\.ts:1:19: Node imports JSON only with \{ type: "json" \}/,
    texts:
      /texts\.ts:1:19: Node imports no file as \{ type: "text" \}; read it, readFileSync\(new URL\("\.\/words\.txt", /,
    unlisted: /unlisted\.ts:1:8: left-pad-of-nobody is imported and is in no package\.json/,
    counted: /kinds\.ts:2:1: TypeScript enum is not supported/,
  };
  const planned = await at.plan();
  assert.equal(planned.code, 0, planned.stderr);
  for (const [stage, pattern] of Object.entries(failing)) {
    const [reason] = reasons(planned, stage);
    assert.equal(reason!.kind, "cannot-start", stage);
    assert.match(reason!.detail, pattern);
    const explained = await at.pipeline(["explain", stage, "--pipeline", at.name, "--root", at.root]);
    assert.match(explained.stdout, pattern);
  }
  const status = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.equal(status.code, 0, status.stdout + status.stderr);
  const said = await at.run();
  assert.equal(said.code, 1);
  for (const [stage, pattern] of Object.entries(failing)) {
    assert.equal(lineOf(said, stage).outcome, "failed");
    assert.match(lineOf(said, stage).cause, pattern);
  }
  assert.equal(outcomes(said).after, "succeeded");
  const checked = await at.pipeline(["check", `pipelines/${at.name}.yaml`]);
  assert.equal(checked.code, 2, checked.stdout + checked.stderr);
  assert.match(checked.stderr, new RegExp(`^${at.name}/inner\\.ts:2:7 cannot-bundle: .*broken\\.ts`, "m"));
  assert.match(checked.stderr, /untyped\.ts:1:19 cannot-bundle: /);
  assert.match(checked.stderr, /texts\.ts:1:19 cannot-bundle: /);
});

test("a stage that ignores TERM is killed at its limit with all its detached children", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  const command = [
    "trap '' TERM",
    `echo $$ >> '${pids}'`,
    `setsid sh -c 'trap "" TERM; echo $$ >> "${pids}"; sleep 300 & echo $! >> "${pids}"; wait' > /dev/null 2>&1 &`,
    `(cd / && setsid sleep 301 & echo $! >> '${pids}')`,
    "while true; do sleep 0.1; done",
  ].join("\n");
  at.define({ stages: { stubborn: { command, limits: { time: "700ms" } } } });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(lineOf(said, "stubborn").cause, /^time-limit: /);
  const started = pidsIn(pids);
  assert.equal(started.length, 4, "all four had started");
  assert.deepEqual(started.filter(isRunning), []);
  assert.deepEqual(leftovers(at), []);
});

test("detached children of a successful stage are ended before its outputs are read", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  const command = `setsid sh -c 'echo $$ >> "${pids}"; while true; do echo more >> "$0"; sleep 0.01; done' {outputs.text} > /dev/null 2>&1 & while [ ! -s '${pids}' ]; do sleep 0.02; done; echo first >> {outputs.text}`;
  at.define({
    stages: {
      daemon: { command, gives: { text: "file" } },
      reader: { needs: ["daemon.text"], command: "cp {inputs.text} {outputs.copy}", gives: { copy: "file" } },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout);
  const started = pidsIn(pids);
  assert.equal(started.length, 1);
  assert.deepEqual(started.filter(isRunning), []);
});

test("--fail-fast starts no stage after a failure and cancels the rest; without it the rest runs", async (t) => {
  const at = lab(t, repository);
  const stages: Record<string, Record<string, unknown>> = {
    first: { command: counted(at, "first", "echo x > {outputs.text}; exit 1"), gives: { text: "file" } },
  };
  for (const name of ["second", "third"]) stages[name] = { command: counted(at, name) };
  at.define({ stages });
  const fast = await at.run("--jobs", "1", "--fail-fast");
  assert.equal(fast.code, 1);
  assert.deepEqual(outcomes(fast), { first: "failed", second: "cancelled", third: "cancelled" });
  assert.deepEqual(at.executions(), { first: 1 });
  assert.deepEqual(summary(fast).outcomes, { succeeded: 0, reused: 0, failed: 1, skipped: 0, cancelled: 2 });
  const on = await at.run("--jobs", "1");
  assert.equal(on.code, 1);
  assert.deepEqual(at.executions(), { first: 2, second: 1, third: 1 });
});

test("after a fix, only the failed stage and its later stages run again", async (t) => {
  const at = lab(t, repository);
  const flag = join(at.outside, "mended");
  at.define({
    stages: {
      shaky: {
        command: counted(at, "shaky", `test -e '${flag}' && echo x > {outputs.text}`),
        gives: { text: "file" },
      },
      next: {
        needs: ["shaky.text"],
        command: counted(at, "next", "cp {inputs.text} {outputs.text}"),
        gives: { text: "file" },
      },
      apart: { command: counted(at, "apart") },
    },
  });
  assert.equal((await at.run()).code, 1);
  writeFileSync(flag, "");
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout);
  assert.deepEqual(reasons(said, "shaky"), [{ kind: "first-run" }]);
  assert.deepEqual(at.executions(), { shaky: 2, next: 1, apart: 1 });
});

test("a failure after a success keeps the old results, says so, and enters no cache", async (t) => {
  const at = lab(t, repository);
  const define = (text: string) =>
    at.define({
      stages: {
        make: { command: `echo ${text} > {outputs.text}; test ${text} = good`, gives: { text: "file" } },
      },
    });
  define("good");
  assert.equal((await at.run()).code, 0);
  const entries = filesBelow(join(at.root, ".mlrb/cache/actions"));
  define("bad");
  const said = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(said.code, 1);
  assert.match(said.stdout, /no new results were published; .* earlier run/);
  assert.equal(results(at)[`${at.name}/default/text`], "good\n");
  assert.deepEqual(filesBelow(join(at.root, ".mlrb/cache/actions")), entries);
});

test("a stage cannot change its inputs for other stages", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      make: { command: "echo true > {outputs.text}", gives: { text: "file" } },
      spoil: {
        needs: ["make.text"],
        command: "chmod u+w {inputs.text}; echo spoilt > {inputs.text}; cp {inputs.text} {outputs.text}",
        gives: { text: "file" },
      },
      read: { needs: ["make.text"], command: "cp {inputs.text} {outputs.copy}", gives: { copy: "file" } },
    },
  });
  assert.equal((await at.run("--jobs", "1", "--only", "spoil")).code, 0);
  assert.equal((await at.run()).code, 0);
  assert.equal(results(at)[`${at.name}/default/copy`], "true\n");
});

test("a reached time limit fails the stage in every run, and a higher limit lets it pass", async (t) => {
  const at = lab(t, repository);
  const define = (time: string) =>
    at.define({ stages: { slow: { command: counted(at, "slow", "sleep 0.6"), limits: { time } } } });
  define("200ms");
  assert.equal((await at.run()).code, 1);
  define("20s");
  assert.equal((await at.run()).code, 0);
  define("200ms");
  assert.deepEqual(outcomes(await at.run()), { slow: "reused" }, "a limit is no part of what a stage is");
});

test("a stage that failed by itself is not retried, however many retries it has", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: { odd: { command: counted(at, "odd", "exit 1"), gives: { text: "file" }, retries: 3 } },
  });
  const { code } = await at.run();
  assert.equal(code, 1);
  assert.deepEqual(at.executions(), { odd: 1 });
});

test("a stage that failed through the machine is retried until it succeeds, and each try is in log and journal", async (t) => {
  const at = lab(t, repository);
  const program = join(at.outside, "program");
  at.define({
    stages: {
      shaky: { command: [program, "{outputs.text}"], gives: { text: "file" }, retries: 3 },
      after: { needs: ["shaky.text"], command: "cp {inputs.text} {outputs.text}", gives: { text: "file" } },
    },
  });
  const run = at.start(["run", at.name, "--root", at.root]);
  await until("the first try to fail", () => run.stderr().includes("retry   shaky"));
  writeFileSync(program, "#!/bin/sh\necho it is there now\necho x > $1\n", { mode: 0o755 });
  const said = await run.ended;
  assert.equal(said.code, 0, said.stderr);
  assert.equal(results(at)[`${at.name}/default/text`], "x\n");
  const { stdout } = await at.pipeline(["log", "shaky", "--root", at.root]);
  assert.match(stdout, /ENOENT[\s\S]*mlrb: try 1 of 4: .*ENOENT.*\n[\s\S]*it is there now/);
  const [journal] = Object.entries(filesBelow(join(at.root, ".mlrb/journals"))).filter(
    ([path]) => path.endsWith(".jsonl") && !path.includes("unchanged"),
  );
  const events = parseLines(journal![1]);
  const retries = events.filter(({ event }) => event === "retry");
  assert.ok(retries.length >= 1, journal![1]);
  for (const [index, { stage, tried, cause, detail }] of retries.entries()) {
    assert.deepEqual([stage, tried, cause], ["shaky", index + 1, "machine"]);
    assert.match(detail, /ENOENT/);
  }
  const ended = events.find(({ event, stage }) => event === "stage" && stage === "shaky");
  assert.equal(ended!.outcome.kind, "succeeded");
});

test("a printed secret is, in any form, neither in the log nor in the record nor on the screen", async (t) => {
  const at = lab(t, repository);
  const secret = 'sk-"é/+ 77\\z';
  const script = at.script(
    "tells.ts",
    `import { writeFileSync } from "node:fs";
import { stage } from "@mlrb/kit/stage";
const key = process.env.THE_KEY!;
console.log("raw", key);
console.error(JSON.stringify({ key }), encodeURIComponent(key), Buffer.from(key).toString("base64"));
writeFileSync(stage().outputs.text!, "x");
if (stage().params.fails) throw new Error(\`refused: \${key}\`);
`,
  );
  const gives = { text: "file" };
  at.define({
    stages: {
      keeps: { durable: true, script, secrets: ["THE_KEY"], gives, params: { fails: false } },
      fails: {
        script,
        secrets: ["THE_KEY", "PIN"],
        gives: { text: { file: "other" } },
        params: { fails: true },
      },
    },
  });
  const env = { THE_KEY: secret, PIN: "x" };
  const said = await at.pipeline(["run", at.name, "--root", at.root, "--yes"], { env });
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(said.stderr, /refused: \[redacted THE_KEY\]/, "the last that it said");
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64"),
  ].map((form) => Buffer.from(form).toString("latin1"));
  const screen = Buffer.from(said.stdout + said.stderr).toString("latin1");
  const state = filesBelow(join(at.root, ".mlrb"));
  for (const [path, text] of [...Object.entries(state), ["the screen", screen]] as const)
    for (const form of forms) assert.ok(!text.includes(form), `${path} holds ${form}`);
  for (const stage of ["keeps", "fails"]) {
    const { stdout } = await at.pipeline(["log", stage, "--root", at.root]);
    assert.match(
      stdout,
      /^raw \[redacted THE_KEY\]$[\s\S]*^\{"key":"\[redacted THE_KEY\]"\} \[redacted THE_KEY\] \[redacted THE_KEY\]$/m,
    );
  }
  const kept = Object.entries(state).filter(([path]) => /^attempts\/records\/.*\/log$/.test(path));
  assert.equal(kept.length, 1);
  assert.match(kept[0]![1], /redacted THE_KEY/);
});

test("after a killed run, the next run removes the secrets that its stages printed", async (t) => {
  const at = lab(t, repository);
  const command = `test -e '${at.outside}/mended' && exit 0; echo "the key is $THE_KEY, and more of it"; touch '${at.outside}/on'; exec sleep 60`;
  at.define({ stages: { tells: { command, secrets: ["THE_KEY"] } } });
  const env = { THE_KEY: "a-secret-of-some-length" };
  const killed = at.start(["run", at.name, "--json", "--root", at.root], { env });
  const logs = () => Object.values(filesBelow(join(at.root, ".mlrb/journals/logs"))).join("");
  await until("the log to be there while it runs", () => logs().includes("the key is"));
  assert.doesNotMatch(logs(), /a-secret/);
  killed.child.kill("SIGKILL");
  await killed.ended;
  assert.doesNotMatch(logs(), /a-secret/);
  writeFileSync(join(at.outside, "mended"), "");
  assert.equal((await at.pipeline(["run", at.name, "--root", at.root], {})).code, 0, "without the secret");
  for (const [path, text] of Object.entries(filesBelow(join(at.root, ".mlrb"))))
    assert.doesNotMatch(text, /a-secret/, path);
});

test("a long log reaches a slow reader completely, and nothing else is printed", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { long: { command: "head -c 6000000 /dev/zero | tr '\\0' a" } } });
  await at.run();
  const said = await at.pipeline(["log", "long", "--root", at.root]);
  assert.equal(said.stderr, "");
  assert.equal(said.stdout.split("\n")[1]!.length, 6_000_000);
});
