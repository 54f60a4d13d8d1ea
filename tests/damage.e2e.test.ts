// Damage in the state folder never causes a wrong result or a stack trace: the run repairs it or prints a fix, and
// the following run completes. More kinds of damage are in damage.thorough.test.ts.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { below, damagedPipeline, expected, flipped, rewrite, testDamages } from "./support/damages.ts";
import { filesBelow, lab, outcomes, results, summary } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

testDamages(repository, "default");

test("a damaged content that a stage needs is made again, and a changed later stage gets the right bytes", async (t) => {
  const at = lab(t, repository);
  damagedPipeline(at);
  await at.run();
  for (const path of below(at, "cache/blobs")) rewrite(path, flipped(readFileSync(path)));
  at.script("double.ts", repository.read(`${at.name}/double.ts`).replace("repeat(2)", "repeat(3)"));
  let said = await at.run();
  for (let tries = 0; said.code !== 0 && tries < 6; tries++) {
    assert.doesNotMatch(said.stderr, /^\s+at /m);
    said = await at.run();
  }
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(results(at)[`${at.name}/default/report.txt`], "b\nsome words\nsome words\nsome words\n");
});

test("state of a newer format is refused with both versions and a fix, and left alone", async (t) => {
  const at = lab(t, repository);
  damagedPipeline(at);
  await at.run();
  const file = join(at.root, ".mlrb/format.json");
  writeFileSync(file, '{"formatVersion":99}\n');
  const before = filesBelow(at.root);
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(
    said.stderr,
    /is of format 99, and this mlrb reads up to 1; update mlrb or choose another --root/,
  );
  assert.deepEqual(filesBelow(at.root), before);
});

test("a damaged format.json is named, with a fix that works and keeps everything", async (t) => {
  for (const text of ["", "{", "null", "{}", '{"formatVersion":"x"}']) {
    const at = lab(t, repository);
    damagedPipeline(at);
    await at.run();
    const file = join(at.root, ".mlrb/format.json");
    writeFileSync(file, text);
    const said = await at.run();
    assert.equal(said.code, 1, text);
    assert.match(said.stderr, /format\.json .*remove it/, text);
    assert.doesNotMatch(said.stderr, /^\s+at /m);
    rmSync(file);
    assert.equal(summary(await at.run()).outcomes.reused, 4);
  }
});

test("edited or removed results are materialized again from the store", async (t) => {
  const at = lab(t, repository);
  damagedPipeline(at);
  await at.run();
  const folder = join(at.root, "results", at.name, "default");
  writeFileSync(join(folder, "report.txt"), "wishful numbers\n");
  rmSync(join(folder, "more"), { recursive: true });
  assert.deepEqual(new Set(Object.values(outcomes(await at.run()))), new Set(["reused"]));
  assert.deepEqual(results(at), expected(at));
});
