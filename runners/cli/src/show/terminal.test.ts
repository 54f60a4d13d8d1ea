import assert from "node:assert/strict";
import { test } from "node:test";
import { hasColor, isLive } from "./terminal.ts";

test("only a terminal other than TERM=dumb is redrawn, and NO_COLOR removes only the colour", () => {
  const seen = (isTTY: boolean, env: Record<string, string>) => [
    isLive({ isTTY }, env),
    hasColor({ isTTY }, env),
  ];
  assert.deepEqual(seen(true, { TERM: "xterm" }), [true, true]);
  assert.deepEqual(seen(true, {}), [true, true]);
  assert.deepEqual(seen(true, { TERM: "xterm", NO_COLOR: "1" }), [true, false]);
  assert.deepEqual(seen(true, { TERM: "dumb" }), [false, false]);
  assert.deepEqual(seen(false, { TERM: "xterm" }), [false, false]);
});
