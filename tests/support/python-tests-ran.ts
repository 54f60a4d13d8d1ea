// Python's unittest ends well when a file holds no test, or only skipped ones. A wrapper of such a file shows
// nothing.
import assert from "node:assert/strict";

/** `output`: what unittest printed to standard error. Fails if fewer than `least` tests ran; a skipped test did not run. */
export function assertTestsRan(output: string, least = 1): void {
  const found = Number(/^Ran (\d+) tests? in /m.exec(output)?.[1] ?? 0);
  const skipped = Number(/^(?:OK|FAILED) \(.*\bskipped=(\d+)/m.exec(output)?.[1] ?? 0);
  const ran = found - skipped;
  assert.ok(ran >= Math.max(1, least), `${ran} Python tests ran, at least ${least} should have\n${output}`);
}
