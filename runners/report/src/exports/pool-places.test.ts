import assert from "node:assert/strict";
import { test } from "node:test";
import { PoolPlaces } from "./pool-places.ts";

function said(...by: string[]): PoolPlaces {
  const pool = new PoolPlaces();
  for (const one of by) pool.said(one);
  return pool;
}

test("a conversation is one run of positions until another interrupts it", () => {
  assert.deepEqual(said("a", "a", "a").asked("a"), [[0, 3]]);
  const pool = said("a", "b", "a", "a", "b");
  assert.deepEqual(pool.asked("a"), [
    [0, 1],
    [2, 4],
  ]);
  assert.deepEqual(pool.asked("b"), [
    [1, 2],
    [4, 5],
  ]);
  assert.deepEqual(pool.asked("c"), []);
});

test("after a cut the first two messages and the newest stay, up to the given number", () => {
  const pool = said(..."aaaaaaaaaa");
  pool.cut("a", 5);
  assert.deepEqual(pool.asked("a"), [
    [0, 2],
    [7, 10],
  ]);
  pool.said("a");
  assert.deepEqual(pool.asked("a"), [
    [0, 2],
    [7, 11],
  ]);
});

test("a cut that keeps more than all messages changes nothing, and one that keeps 0 leaves none", () => {
  for (const kept of [10, 11, 500]) {
    const pool = said(..."aaaaaaaaaa");
    pool.cut("a", kept);
    assert.deepEqual(pool.asked("a"), [[0, 10]], String(kept));
  }
  const pool = said("a", "a", "a");
  pool.cut("a", 0);
  assert.deepEqual(pool.asked("a"), []);
  pool.cut("unknown", 3);
});
