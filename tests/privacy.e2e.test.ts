// What a stage may see: untrusted stages see no private data, no stage sees undeclared variables, and a secret is
// only in the process that it was passed to.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { filesBelow, lab, outcomes, results } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const makes = {
  command: "echo open > {outputs.open}; echo hidden > {outputs.hidden}",
  gives: { open: "file", hidden: { file: true, private: true } },
};
const passOn = { command: "cat {inputs.text} > {outputs.text}", gives: { text: "file" } };

test("an untrusted stage that needs a private artifact is refused before anything runs, with its place and a fix", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: { make: makes, foreign: { needs: ["make.hidden"], command: "true", untrusted: true } },
  });
  const said = await at.run();
  assert.equal(said.code, 2);
  assert.deepEqual(
    said.lines.map(({ code }) => code),
    ["private-for-untrusted"],
  );
  assert.match(
    said.stderr,
    /"foreign" is untrusted and needs make\.hidden, which is private[\s\S]*\^[\s\S]*help: /,
  );
  assert.ok(!existsSync(at.root));
});

test("artifacts made from private inputs are private, also through collecting", async (t) => {
  const at = lab(t, repository);
  const refused = async () => {
    const said = await at.run();
    assert.equal(said.code, 2, said.stdout);
    assert.deepEqual(
      said.lines.map(({ code }) => code),
      ["private-for-untrusted"],
    );
  };
  const middle = { needs: { text: "make.hidden" }, ...passOn };
  at.define({
    stages: { make: makes, middle, foreign: { needs: ["middle.text"], command: "true", untrusted: true } },
  });
  await refused();
  const gather = {
    collect: ["make.hidden"],
    command: "cat {inputs.manifest} > {outputs.text}",
    gives: { text: "file" },
  };
  at.define({
    stages: { make: makes, gather, foreign: { needs: ["gather.text"], command: "true", untrusted: true } },
  });
  await refused();
  at.define({
    stages: { make: makes, foreign: { collect: ["make.hidden"], command: "true", untrusted: true } },
  });
  await refused();
});

test("an untrusted stage may need public artifacts, also those that a stage with private inputs releases", async (t) => {
  const at = lab(t, repository);
  const middle = { needs: { text: "make.hidden" }, ...passOn, releases: ["text"] };
  at.define({
    stages: {
      make: makes,
      middle,
      foreign: {
        needs: ["make.open", "middle.text"],
        command: "cat {inputs.open} {inputs.text} > {outputs.seen}",
        gives: { seen: "file" },
        untrusted: true,
      },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 0, said.stderr + said.stdout);
  assert.equal(results(at)[`${at.name}/default/seen`], "open\nhidden\n");
});

test("a stage gets only what it needs: no private file is next to its inputs", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      make: makes,
      foreign: {
        needs: ["make.open"],
        untrusted: true,
        command: 'grep -r hidden "$MLRB_WORK/in" && exit 1; ls "$MLRB_WORK/in" > {outputs.seen}',
        gives: { seen: "file" },
      },
    },
  });
  assert.equal((await at.run()).code, 0);
  assert.equal(results(at)[`${at.name}/default/seen`], "open\n");
});

test("a secret reaches only the stages that declare it, and no file or output", async (t) => {
  const at = lab(t, repository);
  const secret = "s3cr3t-0f-th3-t3st-9f2c";
  const length = 'test -n "$THE_KEY" && printf %s "$THE_KEY" | wc -c > {outputs.count}';
  at.define({
    stages: {
      uses: { command: length, secrets: ["THE_KEY"], gives: { count: "file" } },
      keeps: { command: length, secrets: ["THE_KEY"], durable: true, gives: { count: { file: "kept" } } },
      lacks: { command: 'echo "${THE_KEY:-nothing}" > {outputs.seen}', gives: { seen: "file" } },
      fails: { command: "exit 1", secrets: ["THE_KEY"] },
    },
  });
  const env = { THE_KEY: secret };
  // an attempt with a key may cost money, and needs a confirmation
  const said = await at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], { env });
  assert.deepEqual(outcomes(said), {
    uses: "succeeded",
    keeps: "succeeded",
    lacks: "succeeded",
    fails: "failed",
  });
  const human = await at.pipeline(["run", at.name, "--root", at.root], { env });
  const plan = await at.pipeline(["plan", at.name, "--root", at.root], { env });
  const log = await at.pipeline(["log", "*", "--root", at.root], { env });
  const found = results(at);
  assert.equal(found[`${at.name}/default/count`]?.trim(), String(secret.length));
  assert.equal(found[`${at.name}/default/kept`]?.trim(), String(secret.length));
  assert.equal(found[`${at.name}/default/seen`], "nothing\n");
  const written = filesBelow(at.root);
  assert.ok(Object.keys(written).length > 10);
  for (const [path, bytes] of Object.entries(written)) assert.ok(!bytes.includes(secret), path);
  for (const { stdout, stderr } of [said, human, plan, log]) assert.ok(!(stdout + stderr).includes(secret));
});

test("another value of a secret reruns nothing, and an unset secret is not in the environment", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      uses: {
        command: 'echo "${THE_KEY-unset}" | wc -c > {outputs.count}',
        secrets: ["THE_KEY"],
        gives: { count: "file" },
      },
    },
  });
  const run = async (env: Record<string, string>) =>
    outcomes(await at.pipeline(["run", at.name, "--json", "--root", at.root], { env }));
  assert.deepEqual(await run({}), { uses: "succeeded" });
  assert.equal(results(at)[`${at.name}/default/count`]?.trim(), "6", "unset, not empty");
  assert.deepEqual(await run({ THE_KEY: "one" }), { uses: "reused" });
});

test("undeclared variables are not visible to a stage, and declared ones have the declared value", async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      look: {
        command: "env | sort > {outputs.seen}",
        env: { GREETING: "good day", NUMBER: 7 },
        gives: { seen: "file" },
      },
    },
  });
  const env = {
    STRAY: "stray-value",
    GREETING: "another",
    PYTHONPATH: "/stray",
    NODE_OPTIONS: "--no-warnings",
    OPENAI_API_KEY: "stray-key",
    LC_ALL: "tr_TR.UTF-8",
    TZ: "Asia/Tokyo",
  };
  const said = await at.pipeline(["run", at.name, "--json", "--root", at.root], { env });
  assert.equal(said.code, 0, said.stdout);
  const seen = results(at)[`${at.name}/default/seen`]!;
  const names = seen.split("\n").map((line) => line.split("=")[0]!);
  for (const name of ["STRAY", "NODE_OPTIONS", "OPENAI_API_KEY", "LC_ALL", "INIT_CWD"])
    assert.ok(!names.includes(name), name);
  assert.doesNotMatch(seen, /stray/);
  assert.match(seen, /^GREETING=good day$/m);
  assert.match(seen, /^NUMBER=7$/m);
  assert.match(seen, /^TZ=UTC$/m);
  assert.match(seen, new RegExp(`^HOME=${at.root}/\\.mlrb/work/`, "m"), "not the user's own home");
});
