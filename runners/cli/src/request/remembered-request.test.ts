import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted, runnerSources } from "@mlrb/local/decide/consulted-files";
import { profilesOf, rememberedRequest } from "./remembered-request.ts";
import { readRequest } from "./request.ts";

/** A repository with one pipeline, written long ago, and what is remembered of its plans. */
function scene(t: TestContext) {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-remembered-"));
  t.after(() => rmSync(repository, { recursive: true }));
  mkdirSync(join(repository, "pipelines"));
  mkdirSync(join(repository, ".mlrb"));
  const memory = join(repository, ".mlrb/cache/memory/plans");
  const write = (file: string, text: string) => {
    const path = join(repository, "pipelines", file);
    writeFileSync(path, text);
    utimesSync(path, 1_000_000, 1_000_000 + text.length);
  };
  const stage = (command: string) =>
    `formatVersion: 1\nname: words\nstages:\n  make: { command: ${command} }\n`;
  // a file that was written just now is not remembered: it could change again without a new ctime
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 60_000 });
  write("words.yaml", stage("one"));
  const looked = async (name = "words", set: string[] = []) => {
    const found = await rememberedRequest(repository, name, { only: [], set, json: false });
    return found?.plan.instances.map(({ action }) => action.run.kind === "command" && action.run.command);
  };
  /** Makes what is remembered tell that it was remembered. */
  const mark = () => {
    for (const name of readdirSync(memory)) {
      const text = readFileSync(join(memory, name), "utf8");
      writeFileSync(join(memory, name), text.replaceAll('"one"', '"remembered"'));
    }
  };
  return { write, stage, looked, mark, memory };
}

test("a plan is taken from memory while no consulted file has changed", async (t) => {
  const { looked, mark } = scene(t);
  assert.deepEqual(await looked(), ["one"]);
  mark();
  assert.deepEqual(await looked(), ["remembered"]);
});

test("a changed or touched pipeline is read again", async (t) => {
  const { write, stage, looked, mark } = scene(t);
  await looked();
  mark();
  write("words.yaml", stage("three"));
  assert.deepEqual(await looked(), ["three"]);
  write("words.yaml", stage("one"));
  assert.deepEqual(await looked(), ["one"]);
});

test("an edited script leaves the plan as it is, and a removed or replaced one does not", async (t) => {
  const { write, looked, memory } = scene(t);
  const script = "formatVersion: 1\nname: words\nstages:\n  one: { script: pipelines/one.sh.ts }\n";
  write("one.sh.ts", "await one();");
  write("words.yaml", script);
  const inodes = () => readdirSync(memory).map((name) => statSync(join(memory, name)).ino);
  assert.ok(await looked());
  const before = inodes();
  write("one.sh.ts", "await another();");
  assert.ok(await looked());
  assert.deepEqual(inodes(), before, "nothing was planned and stored again");
  rmSync(join(memory, "../../../../pipelines/one.sh.ts"));
  const { write: print } = process.stderr;
  process.stderr.write = () => true;
  try {
    assert.equal(await looked(), undefined, "a missing script is a problem of the plan");
    mkdirSync(join(memory, "../../../../pipelines/one.sh.ts"));
    assert.equal(await looked(), undefined, "a folder is no script");
  } finally {
    process.stderr.write = print;
  }
});

test("requests with different options are remembered separately, and invalid ones not at all", async (t) => {
  const { looked, memory, write } = scene(t);
  write(
    "words.yaml",
    "formatVersion: 1\nname: words\naxes: { a: [x, y] }\nstages:\n  make: { each: [a], command: 'do {a}' }\n",
  );
  assert.deepEqual(await looked("words", ["a=x"]), ["do x"]);
  assert.deepEqual(await looked("words", ["a=y"]), ["do y"]);
  assert.equal(readdirSync(memory).length, 2);
  const { write: before } = process.stderr;
  process.stderr.write = () => true;
  try {
    assert.equal(await looked("words", ["a=z"]), undefined);
  } finally {
    process.stderr.write = before;
  }
  assert.equal(readdirSync(memory).length, 2);
});

test("a scripted pipeline, which may read any file, is planned again when it gives other data", async (t) => {
  const { looked, mark, write } = scene(t);
  const variable = `MLRB_TEST_${process.pid}`;
  t.after(() => delete process.env[variable]);
  // a getter, since this process loads a module once
  const command = `get command() { return process.env.${variable}; }`;
  write("made.ts", `export default { formatVersion: 1, name: "made", stages: { make: { ${command} } } };\n`);
  process.env[variable] = "one";
  assert.deepEqual(await looked("made"), ["one"]);
  mark();
  assert.deepEqual(await looked("made"), ["remembered"]);
  process.env[variable] = "two";
  assert.deepEqual(await looked("made"), ["two"]);
});

test("a scripted pipeline whose plan is remembered is planned in another profile too", async (t) => {
  const { write, memory } = scene(t);
  const stages = `{ make: { command: "{params.say}" } }`;
  const profiles = `{ here: { default: true, params: { say: "one" } }, there: { params: { say: "two" } } }`;
  const params = `{ say: "none" }`;
  write(
    "both.ts",
    `export default { formatVersion: 1, name: "both", params: ${params}, profiles: ${profiles}, stages: ${stages} };\n`,
  );
  const asked = () =>
    rememberedRequest(join(memory, "../../../.."), "both", { only: [], set: [], json: false });
  const commands = async () => {
    const request = await asked();
    const plans = [request, request?.inProfile("there"), request?.inProfile("nowhere")];
    return plans.map((found) => JSON.stringify(found?.plan.instances.map(({ action }) => action.run)));
  };
  const made = await commands();
  assert.match(made[1]!, /"two"/);
  const [stored] = readdirSync(memory).map((name) => statSync(join(memory, name)).ino);
  assert.deepEqual(await commands(), made);
  assert.deepEqual(
    [stored],
    readdirSync(memory).map((name) => statSync(join(memory, name)).ino),
  );
});

test("memory that is torn or of another version is ignored", async (t) => {
  const { looked, mark, memory } = scene(t);
  await looked();
  mark();
  const [name] = readdirSync(memory);
  const text = readFileSync(join(memory, name!), "utf8");
  writeFileSync(join(memory, name!), text.slice(0, -5));
  assert.deepEqual(await looked(), ["one"]);
  writeFileSync(join(memory, name!), text.replace('"formatVersion":1', '"formatVersion":2'));
  assert.deepEqual(await looked(), ["one"]);
});

test("after any sequence of edits, the plan is the one that the files give now", async (t) => {
  const { write, memory } = scene(t);
  const repository = join(memory, "../../../..");
  const options = { only: [], set: [], json: false };
  const script = (name: string, files: string) =>
    `formatVersion: 1\nname: words\nstages:\n  make: { script: pipelines/${name}.js.ts, files: [${files}] }\n`;
  const path = (name: string) => join(repository, "pipelines", name);
  const texts = [
    script("a", "pipelines/a.txt"),
    script("b", "pipelines/*.txt"),
    script("a", "pipelines/d/*"),
  ];
  const edits: (() => void)[] = [
    ...texts.map((text) => () => write("words.yaml", text)),
    ...["a.js.ts", "b.js.ts", "a.txt"].flatMap((name) => [
      () => write(name, `${random()}`),
      () => rmSync(path(name), { recursive: true, force: true }),
    ]),
    () => mkdirSync(path("d"), { recursive: true }),
    () => rmSync(path("d"), { recursive: true, force: true }),
    () => utimesSync(path("words.yaml"), 1000, random()),
  ];
  const seed = Date.now() % 2 ** 31;
  let state = seed;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
  for (const name of ["a.js.ts", "b.js.ts", "a.txt"]) write(name, "");
  const { write: print } = process.stderr;
  process.stderr.write = () => true;
  let [valid, reused] = [0, 0];
  const inode = () =>
    existsSync(memory) && readdirSync(memory).map((name) => statSync(join(memory, name)).ino)[0];
  try {
    for (let turn = 0; turn < 150; turn++) {
      edits[random() % edits.length]!();
      const before = inode();
      const [held, now] = [new Consulted(repository), new Consulted(repository)];
      const found = await rememberedRequest(repository, "words", options, held);
      now.pattern(runnerSources);
      const fresh = await readRequest(repository, "words", options, now);
      assert.deepEqual(found?.plan, fresh?.plan, `seed ${seed}, turn ${turn}`);
      for (const seen of ["files", "folders", "patterns"] as const)
        assert.deepEqual(
          held[seen],
          now[seen],
          `seed ${seed}, turn ${turn}: a run consults the same ${seen}`,
        );
      if (found) valid++;
      if (found && before === inode()) reused++;
    }
  } finally {
    process.stderr.write = print;
  }
  assert.ok(valid > 10 && reused > 5 && reused < valid, `seed ${seed}: ${valid} valid, ${reused} remembered`);
});

test("a remembered request is planned in another profile, and not in one that its pipeline lacks", async () => {
  const repository = join(import.meta.dirname, "../../../..");
  const options = { only: [], set: [], json: false };
  const inProfile = await profilesOf({ repository, pipeline: "hello", options }, undefined);
  assert.equal(inProfile("smoke")?.plan.profile, "smoke");
  assert.equal(inProfile("no-such-profile"), undefined);
});
