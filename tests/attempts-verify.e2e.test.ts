// `attempts verify` names damage in a real attempt's record, repairs it where an intact copy exists, and the
// record is used again.
import assert from "node:assert/strict";
import { chmodSync, cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { lab, outcomes } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

async function attempted(t: TestContext) {
  const at = lab(t, repository);
  defineAttempts(at, { script: 'echo a model > "$MLRB_SUBMISSION/model"', trusted: true });
  const made = await at.run();
  assert.equal(made.code, 0, made.stderr);
  const { digest } = recordsIn(at.root)[0]!;
  const folder = join(at.root, ".mlrb/attempts/records", digest);
  const attempts = (...args: string[]) => at.pipeline(["attempts", ...args, "--root", at.root]);
  const damage = (file: string) => {
    chmodSync(join(folder, file), 0o644);
    writeFileSync(join(folder, file), "rotten");
  };
  const reused = async () => {
    const said = await at.run();
    assert.equal(outcomes(said)["attempt[task=empty,agent=tries,seed=1]"], "reused", said.stderr);
  };
  return { at, folder, short: digest.slice(0, 12), attempts, damage, reused };
}

test("a damaged file of a record is named and repaired from the cache; the next check finds nothing", async (t) => {
  const { short, attempts, damage, reused } = await attempted(t);
  damage("submission/model");
  damage("trajectory.jsonl");
  const first = await attempts("verify");
  assert.equal(first.code, 0, first.stdout + first.stderr);
  assert.match(first.stdout, new RegExp(`^repaired  ${short}  submission/model, from the cache$`, "m"));
  assert.match(first.stdout, new RegExp(`^repaired  ${short}  trajectory.jsonl, from the cache$`, "m"));
  assert.match(first.stdout, /^1 attempt read, 0 damaged, 1 repaired$/m);
  const second = await attempts("verify");
  assert.deepEqual([second.code, second.stdout], [0, "1 attempt read, 0 damaged, 0 repaired\n"]);
  await reused();
});

test("a damaged record.json, and a file without an intact copy, are named with a fix that repairs both", async (t) => {
  const { at, folder, short, attempts, damage, reused } = await attempted(t);
  const elsewhere = join(at.outside, "elsewhere");
  assert.equal((await attempts("export", elsewhere)).code, 0);
  damage("record.json");
  damage("submission/model");
  for (const blob of globSync(join(at.root, ".mlrb/cache"))) rmSync(blob, { recursive: true, force: true });
  const told = await attempts("verify");
  assert.equal(told.code, 1);
  assert.match(
    told.stdout,
    new RegExp(`^damaged   ${short}  record.json is not what the record's name says$`, "m"),
  );
  assert.ok(told.stdout.includes(folder));
  assert.match(told.stdout, /attempts export DIR.*attempts import DIR/);
  const mended = await attempts("import", elsewhere);
  assert.equal(mended.code, 0, mended.stdout + mended.stderr);
  const clean = await attempts("verify");
  assert.deepEqual([clean.code, clean.stdout], [0, "1 attempt read, 0 damaged, 0 repaired\n"]);
  await reused();
  damage("record.json");
  cpSync(elsewhere, join(at.outside, "worse"), { recursive: true });
  for (const file of globSync(join(at.outside, "worse/*/record.json"))) {
    chmodSync(file, 0o644);
    writeFileSync(file, "rotten too");
  }
  const refused = await attempts("import", join(at.outside, "worse"));
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /refused .*its record is not what its name says/);
});
