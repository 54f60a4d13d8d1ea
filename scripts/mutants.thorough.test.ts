// Runs the mutants of one small module, so that the script works and a test suite that notices nothing is seen.
// All mutants take hours; run them by hand.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const repository = join(import.meta.dirname, "..");

test("the unit tests kill mutants of a small module", async (t) => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["scripts/mutants.ts", "runners/kit/src/parse-duration.ts", "--tests", "runners/core/src/text/units"],
    { cwd: repository, maxBuffer: 1 << 28 },
  );
  t.diagnostic(stdout);
  const [, share] = /^All files +\| +([\d.]+)/m.exec(stdout) ?? [];
  assert.ok(Number(share) > 50, `${share ?? "no"} % of the mutants were killed:\n${stdout}`);
});
