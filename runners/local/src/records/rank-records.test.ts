import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import { type Known, rankRecords } from "./rank-records.ts";

type Sketch = { made: "here" | { archive: string; key?: string }; key?: string };

/** Records by name, each later than the one before. `choices`: names in order of the decisions about them. */
function ranked(sketches: Record<string, Sketch>, chosen: string[] = [], declined: string[] = []) {
  const entries = Object.entries(sketches);
  const lines = entries.map(([record, { key = "k" }], day) => ({
    ...{ record, key, slot: "s", startedAt: `2026-01-0${day + 1}` },
  }));
  const origins = new Map(
    entries.flatMap(([record, { made }]): [string, RecordOrigin][] =>
      made === "here"
        ? []
        : [
            [
              record,
              {
                ...{ formatVersion: 1, importedAt: "", archive: made.archive },
                ...{ signedBy: null, signingKey: made.key ?? null },
              },
            ],
          ],
    ),
  );
  const known: Known = { origins, choices: { chosen: new Set(chosen), declined: new Set(declined) } };
  const found = rankRecords(lines, known);
  const { current, undecided, isTrusted } = found;
  assert.deepEqual(
    found.declined.map(({ record }) => record),
    current || undecided.length > 0 ? [] : entries.map(([record]) => record),
  );
  return { current: current?.record, isTrusted, undecided: undecided.map(({ record }) => record) };
}

const here: Sketch = { made: "here" };
const from = (archive: string, key?: string): Sketch => ({
  made: { archive },
  ...(key !== undefined && { key }),
});

test("of records that were made here, the newest is current", () => {
  assert.deepEqual(ranked({ one: here, two: here }), { current: "two", isTrusted: true, undecided: [] });
});

test("an imported record with a later date never wins over one that was made here", () => {
  const found = ranked({ one: here, forged: from("a"), other: from("b") });
  assert.deepEqual(found, { current: "one", isTrusted: true, undecided: ["forged", "other"] });
});

test("the only record is current, also if it was imported", () => {
  assert.deepEqual(ranked({ one: from("a") }), { current: "one", isTrusted: false, undecided: [] });
});

test("none of two imported records is current, also with one key in one archive", () => {
  const none = { current: undefined, isTrusted: false, undecided: ["one", "two"] };
  assert.deepEqual(ranked({ one: from("a"), two: from("b") }), none);
  assert.deepEqual(ranked({ one: from("a"), two: from("a") }), none);
  assert.deepEqual(ranked({ one: from("a", "k1"), two: from("b", "k2") }), none);
});

test("versions of an attempt from one source are in the order of that source", () => {
  const found = ranked({ one: from("a", "k1"), two: from("a", "k2") });
  assert.deepEqual(found, { current: "two", isTrusted: false, undecided: [] });
  const signed = (archive: string, key: string): Sketch => ({ key, made: { archive, key: "SHA256:x" } });
  assert.equal(ranked({ one: signed("a", "k1"), two: signed("b", "k2") }).current, "two");
});

test("a choice makes an imported record current, and the opposite choice takes it back", () => {
  const both = { one: here, two: from("a") };
  assert.deepEqual(ranked(both, ["two"], ["one"]), { current: "two", isTrusted: true, undecided: [] });
  assert.deepEqual(ranked(both, ["one"], ["two"]), { current: "one", isTrusted: true, undecided: [] });
});

test("a record that was made here after a choice is current, whatever date the chosen record states", () => {
  assert.equal(ranked({ one: here, later: here, chosen: from("a") }, ["chosen"], ["one"]).current, "later");
});

test("a record that was imported after a choice is undecided", () => {
  const found = ranked({ one: here, two: from("a"), three: from("b") }, ["two"], ["one"]);
  assert.deepEqual(found, { current: "two", isTrusted: true, undecided: ["three"] });
});

test("a declined imported record is not used even if it is the only one of its key; one made here is", () => {
  assert.equal(ranked({ two: from("a") }, ["elsewhere"], ["two"]).current, undefined);
  assert.equal(ranked({ one: here }, ["elsewhere"], ["one"]).current, "one");
});
