// Runs a sample of mutants, so that the script works and a test suite that notices nothing is seen. The share of
// all mutants takes hours to measure; run it by hand.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { testSeed } from "../tests/support/test-seed.ts";

const repository = join(import.meta.dirname, "..");

/** Small enough for a few minutes. */
const sampleSize = 4;

test("the unit tests kill mutants of a random sample", async (t) => {
  t.diagnostic(`MLRB_TEST_SEED=${testSeed}`);
  // of one package: tests of the other are run for nothing
  const folder = `runners/${["core", "local"][testSeed % 2]}/`;
  const sample = ["--sample", String(sampleSize), "--seed", String(testSeed)];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["scripts/mutants.ts", folder, ...sample, "--tests", folder],
    { cwd: repository, maxBuffer: 1 << 28 },
  );
  t.diagnostic(stdout);
  const [, share] = /([\d.]+) % +\d+ of \d+ {2}killed in all/.exec(stdout) ?? [];
  // of all mutants, 85 % and more are killed; with that share, one sample of 2 000 has none
  assert.ok(
    Number(share) > 0,
    `${share ?? "no"} % of the sample were killed (MLRB_TEST_SEED=${testSeed}):\n${stdout}`,
  );
});
