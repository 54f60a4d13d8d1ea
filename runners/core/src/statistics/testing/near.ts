// Comparing numbers that two programs computed in different ways.
import assert from "node:assert/strict";

export function near(actual: number | undefined, expected: number, within: number): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= within,
    `${actual} is not within ${within} of ${expected}`,
  );
}
