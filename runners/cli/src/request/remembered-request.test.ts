import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deserialize, serialize } from "node:v8";
import { rememberedRequest } from "./remembered-request.ts";

const toText = (request: unknown) => serialize(request).toString("base64");

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
      const held = JSON.parse(readFileSync(join(memory, name), "utf8"));
      const request = deserialize(Buffer.from(held.answer, "base64"));
      for (const { action } of request.plan.instances) action.run.command = "remembered";
      writeFileSync(join(memory, name), JSON.stringify({ ...held, answer: toText(request) }));
    }
  };
  return { repository, write, stage, looked, mark, memory };
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

test("a scripted pipeline is planned each time, since it may read any file", async (t) => {
  const { looked, memory, write } = scene(t);
  write(
    "made.ts",
    'export default { formatVersion: 1, name: "made", stages: { make: { command: "one" } } };\n',
  );
  assert.deepEqual(await looked("made"), ["one"]);
  assert.throws(() => readdirSync(memory));
});

test("memory that is torn or of another version is ignored", async (t) => {
  const { looked, mark, memory } = scene(t);
  await looked();
  mark();
  const [name] = readdirSync(memory);
  const text = readFileSync(join(memory, name!), "utf8");
  writeFileSync(join(memory, name!), text.slice(0, -5));
  assert.deepEqual(await looked(), ["one"]);
  writeFileSync(join(memory, name!), text.replace('"formatVersion":3', '"formatVersion":4'));
  assert.deepEqual(await looked(), ["one"]);
});

test("a remembered plan equals the fresh one, and its instances share their stages", async (t) => {
  const { repository, write, memory } = scene(t);
  const stages = "{ make: { each: [seed], command: make, gives: { all: file } } }";
  write("seeds.yaml", `formatVersion: 1\nname: seeds\naxes: { seed: [1, 2, 3] }\nstages: ${stages}\n`);
  const asked = { only: [], set: [], json: false };
  const fresh = await rememberedRequest(repository, "seeds", asked);
  assert.equal(readdirSync(memory).length, 1);
  const held = await rememberedRequest(repository, "seeds", asked);
  assert.notEqual(held!.plan, fresh!.plan);
  assert.deepEqual(held, fresh);
  assert.equal(held!.plan.instances.length, 3);
  for (const { stage } of held!.plan.instances) assert.equal(stage, held!.plan.stages[0], "one object");
});
