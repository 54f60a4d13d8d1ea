import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { rememberedAnswer } from "./remembered-answer.ts";
import { withScripted } from "./scripted-pipeline.ts";

function scene(t: TestContext, root?: string) {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-answer-"));
  t.after(() => rmSync(repository, { recursive: true }));
  mkdirSync(join(repository, "words"));
  mkdirSync(join(repository, ".mlrb"));
  const write = (text: string) => {
    writeFileSync(join(repository, "words/a.txt"), text);
    utimesSync(join(repository, "words/a.txt"), 1_000_000, 1_000_000 + text.length);
  };
  // a file that was written just now is not remembered: it could change again without a new ctime
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 60_000 });
  write("one");
  let made = 0;
  const ask = async (asked = { command: "shout" }, keep = true, consulted = new Consulted(repository)) => {
    let fresh: string | undefined;
    const held = await rememberedAnswer<{ said: string }>(
      { repository, root: root ?? repository, asked, consulted },
      async () => {
        made++;
        const sources = sourceFiles(repository, consulted);
        sources.list("words");
        fresh = sources.read("words/a.txt")!.toUpperCase();
        return { keep: keep ? { said: fresh } : undefined };
      },
    );
    return held ? held.said : fresh;
  };
  return { repository, write, ask, count: () => made };
}

test("an answer is made again only after a consulted file has changed", async (t) => {
  const { write, ask, count } = scene(t);
  assert.deepEqual([await ask(), await ask(), count()], ["ONE", "ONE", 1]);
  write("two!");
  assert.deepEqual([await ask(), await ask(), count()], ["TWO!", "TWO!", 2]);
});

test("each request has an answer of its own, and an answer not to be kept is made each time", async (t) => {
  const { ask, count } = scene(t);
  await ask();
  await ask({ command: "whisper" });
  assert.equal(count(), 2);
  const strict = { command: "check" };
  await ask(strict, false);
  await ask(strict, false);
  assert.equal(count(), 4);
});

test("a caller's list of consulted files has what the answer was made from, remembered or not", async (t) => {
  const { repository, count, ask } = scene(t);
  const seen = async () => {
    const consulted = new Consulted(repository);
    await ask({ command: "run" }, true, consulted);
    return [consulted.files, consulted.folders, consulted.patterns].map((each) => [...each].sort());
  };
  const [made, remembered] = [await seen(), await seen()];
  assert.equal(count(), 1);
  assert.deepEqual(remembered, made);
  assert.ok(made[0]!.some(([path]) => path === "words/a.txt"));
  assert.ok(made[1]!.some(([folder]) => folder === "words"));
});

test("a fresh checkout remembers", async (t) => {
  const { repository, ask, count } = scene(t);
  rmSync(join(repository, ".mlrb"), { recursive: true });
  assert.deepEqual([await ask(), await ask(), count()], ["ONE", "ONE", 1]);
});

test("another root without a state folder stays as it is", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-answer-"));
  t.after(() => rmSync(root, { recursive: true }));
  const { ask, count } = scene(t, root);
  assert.deepEqual([await ask(), await ask(), count()], ["ONE", "ONE", 2]);
  assert.deepEqual(readdirSync(root), []);
});

test("a remembered answer that is torn or of another format is made again", async (t) => {
  const { repository, ask, count } = scene(t);
  await ask();
  const folder = join(repository, ".mlrb/cache/memory/plans");
  for (const text of ["{", '{"formatVersion":1}']) {
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), text);
    assert.equal(await ask(), "ONE");
  }
  assert.equal(count(), 3);
});

test("an answer about a program is made again only after the program gives other data", async (t) => {
  const { repository } = scene(t);
  const variable = `MLRB_TEST_${process.pid}`;
  t.after(() => delete process.env[variable]);
  // a getter, since this process loads a module once
  const program = `export default { get data() { return process.env.${variable}; } };\n`;
  writeFileSync(join(repository, "words/made.ts"), program);
  let made = 0;
  const ask = () =>
    rememberedAnswer({ repository, root: repository, asked: { command: "check" } }, async (consulted) => {
      made++;
      const found = await withScripted(
        repository,
        "words/made.ts",
        sourceFiles(repository, consulted),
        consulted,
      );
      return { keep: "code" in found ? undefined : 1 };
    });
  process.env[variable] = "one";
  assert.deepEqual([await ask(), await ask(), made], [undefined, 1, 1]);
  process.env[variable] = "two";
  assert.deepEqual([await ask(), await ask(), made], [undefined, 1, 2]);
});

test("an answer is made again after a program wrote a file that the answer was made from", async (t) => {
  const { repository, ask, count } = scene(t);
  const written = join(repository, "words/a.txt");
  const variable = `MLRB_TEST_WRITES_${process.pid}`;
  t.after(() => delete process.env[variable]);
  const write = `process.env.${variable} && fs.writeFileSync(${JSON.stringify(written)}, process.env.${variable})`;
  const program = `import fs from "node:fs";\nexport default { get data() { ${write}; return 1; } };\n`;
  writeFileSync(join(repository, "words/made.ts"), program);
  const asked = { command: "check" };
  const asking = () =>
    rememberedAnswer({ repository, root: repository, asked }, async (consulted) => {
      const sources = sourceFiles(repository, consulted);
      await withScripted(repository, "words/made.ts", sources, consulted);
      return { keep: sources.read("words/a.txt") };
    });
  assert.deepEqual([await asking(), await asking()], [undefined, "one"]);
  process.env[variable] = "two!";
  assert.equal(await asking(), undefined);
  assert.deepEqual([await ask(), count()], ["TWO!", 1]);
});
