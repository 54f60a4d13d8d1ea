import assert from "node:assert/strict";
import { test } from "node:test";
import { noteMax, notes, notesCountMax, notesMax } from "./notes.ts";

test("notes keep their order until they are replaced", () => {
  const kept = notes();
  assert.equal(kept.text(), "");
  assert.equal(kept.add(" first "), undefined);
  assert.equal(kept.add("second"), undefined);
  assert.equal(kept.text(), "1. first\n2. second");
  assert.equal(kept.replace("all that matters"), undefined);
  assert.equal(kept.text(), "1. all that matters");
});

test("a note that is empty or too long is refused, and changes nothing", () => {
  const kept = notes();
  kept.add("first");
  assert.match(kept.add("  ")!, /keeps nothing/);
  assert.match(kept.replace("x".repeat(noteMax + 1))!, /at most 4000 characters, this one has 4001/);
  assert.equal(kept.text(), "1. first");
});

test("all notes together are bounded, in characters and in number, with a way out", () => {
  const long = notes();
  for (let one = 0; one < notesMax / noteMax; one++) assert.equal(long.add("x".repeat(noteMax)), undefined);
  assert.match(long.add("x")!, /"replaceAll": true/);
  assert.equal(long.replace("x"), undefined);
  const many = notes();
  for (let one = 0; one < notesCountMax; one++) assert.equal(many.add("x"), undefined);
  assert.match(many.add("x")!, /there are at most 100/);
});
