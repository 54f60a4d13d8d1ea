import assert from "node:assert/strict";
import { test } from "node:test";
import { nextStart } from "./next-start.ts";

/** How often it is started again, and why not once more. */
function startsAgain(served: boolean[]): string {
  let starts = { restarts: 0, served: false };
  for (const [count, one] of served.entries()) {
    const next = nextStart(starts, { served: one }, 2);
    if (next.kind === "failed") return `${count}${next.over ? " too many" : " final"}`;
    starts = next.starts;
  }
  return `${served.length}`;
}

test("a service's ends are counted, and one that never answered is not started again", () => {
  assert.equal(startsAgain([true, true, true, true, true]), "2 too many");
  assert.equal(startsAgain([false]), "0 final");
  assert.equal(startsAgain([true, false]), "2");
});
