import assert from "node:assert/strict";
import { test } from "node:test";
import { nextStart } from "./next-start.ts";

type End = Parameters<typeof nextStart>[1];

const own: End = { cause: "exit-code", lost: false, served: true };
const preempted: End = { cause: "machine", lost: true, served: true };

/** How often it is started again, and why not once more. */
function startsAgain(ends: End[], retries = 3): string {
  let starts = { restarts: 0, losses: 0, served: false };
  for (const [count, end] of ends.entries()) {
    const next = nextStart(starts, end, { restartsMax: 2, retries });
    if (next.kind === "failed") return `${count}${next.over ? " too many" : " final"}`;
    starts = next.starts;
  }
  return `${ends.length}`;
}

const times = (count: number, end: End) => Array.from({ length: count }, () => end);

test("a service's own ends are counted, and one that never answered is not started again", () => {
  assert.equal(startsAgain(times(5, own)), "2 too many");
  assert.equal(startsAgain([{ ...own, served: false }]), "0 final");
  assert.equal(startsAgain([own, { ...own, served: false }]), "2");
  assert.equal(
    startsAgain([
      { ...preempted, served: false },
      { ...own, served: false },
    ]),
    "1 final",
  );
});

test("a cluster may end a service that answers as often as it likes, and three times in a row one that does not", () => {
  assert.equal(startsAgain(times(50, preempted)), "50");
  assert.equal(startsAgain(times(50, { ...preempted, served: false })), "3 too many");
  const away = { ...preempted, served: false };
  assert.equal(startsAgain([...times(3, away), preempted, ...times(2, away), own]), "7");
  assert.equal(startsAgain([own, ...times(9, preempted), own, ...times(9, preempted), own]), "20 too many");
});

test("a service whose job a person cancelled is not started again, and this host's failures count as its own", () => {
  assert.equal(startsAgain([{ ...own, cause: "operator" }]), "0 final");
  assert.equal(startsAgain(times(5, preempted), 0), "2 too many");
});
