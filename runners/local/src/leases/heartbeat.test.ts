import assert from "node:assert/strict";
import { linkSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { look, Stillness, startHeart } from "./heartbeat.ts";
import { isAlive, thisProcess } from "./owner.ts";

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-heartbeat-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function newCard(t: TestContext): string {
  const path = join(newFolder(t), "owner.json");
  writeFileSync(path, JSON.stringify(thisProcess()));
  return path;
}

test("a beat is visible at the card and at every link to it, and changes no byte of them", (t) => {
  const card = newCard(t);
  const lease = `${card}.lease`;
  linkSync(card, lease);
  const text = readFileSync(card, "utf8");
  const heart = startHeart(card, 1e9);
  t.after(() => heart.stop());
  let before = look(lease)!.beat;
  for (let beats = 0; beats < 3; beats++) {
    heart.beat();
    const now = look(lease)!.beat;
    assert.notEqual(now, before);
    assert.equal(look(card)!.beat, now);
    before = now;
  }
  assert.equal(readFileSync(lease, "utf8"), text);
});

test("beats are two whole seconds apart in the file's time, for file systems with coarse times", (t) => {
  const card = newCard(t);
  const heart = startHeart(card, 1e9);
  t.after(() => heart.stop());
  const time = () => Number(/^\d+ (\d+) /.exec(look(card)!.beat)![1]!) / 1e9;
  heart.beat();
  const first = time();
  heart.beat();
  assert.equal(time() - first, 2);
  assert.equal(first % 1, 0);
});

test("a heart continues to beat at the leases after its card was removed, and may be stopped twice", (t) => {
  const card = newCard(t);
  const lease = `${card}.lease`;
  linkSync(card, lease);
  const heart = startHeart(card, 1e9);
  rmSync(card);
  const before = look(lease)!.beat;
  heart.beat();
  assert.notEqual(look(lease)!.beat, before);
  heart.stop();
  heart.stop();
  const last = look(lease)!.beat;
  heart.beat();
  assert.equal(look(lease)!.beat, last, "a stopped heart does not beat, and does not throw");
});

test("a removed card is undefined, a card without an owner is dead, and an unreadable card is an error", (t) => {
  const folder = newFolder(t);
  assert.equal(look(join(folder, "none")), undefined);
  for (const text of ["", "{", "null", "5", '{"host":3}', '{"host":"h"}', "[]"]) {
    const path = join(folder, "torn");
    writeFileSync(path, text);
    assert.equal(isAlive(look(path)!.owner), false, text);
    assert.equal(look(join(path, "below")), undefined, "below a file there is nothing");
  }
  assert.throws(() => look(folder), { code: "EISDIR" });
});

test("stillness counts the time that this process watched without a change, and restarts at each change", () => {
  let now = 1000;
  const still = new Stillness({ now: () => now, sleep: async () => {} });
  const at = (ms: number, seen: string) => {
    now += ms;
    return still.look(seen);
  };
  assert.equal(at(0, "a"), 0);
  assert.equal(at(300, "a"), 300);
  assert.equal(at(4000, "a"), 4300);
  assert.equal(at(1000, "b"), 0);
  assert.equal(at(1000, "b"), 1000);
  assert.equal(at(1000, "a"), 0, "back to what it was is a move too");
});

test("a watcher that slept for an hour counts no hour of silence, and a clock that went back adds none", () => {
  let now = 0;
  const still = new Stillness({ now: () => now, sleep: async () => {} });
  still.look("a");
  now += 3_600_000;
  assert.equal(still.look("a"), 5_000);
  now -= 10_000;
  assert.equal(still.look("a"), 5_000);
});
