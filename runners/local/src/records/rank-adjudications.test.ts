import assert from "node:assert/strict";
import { test } from "node:test";
import type { Adjudication } from "@mlrb/formats/attempt/adjudication";
import { decisionsOf } from "./rank-adjudications.ts";

const record = "a".repeat(64);
const from = (archive: string, signingKey: string | null = null) => ({
  archive: archive.repeat(64),
  signedBy: signingKey && `${signingKey} name`,
  signingKey,
});

function line(reason: string, verdict: "pass" | "fail", more: Partial<Adjudication> = {}): Adjudication {
  const said = { rule: "from-scratch", verdict, by: "Ada", reason, decidedAt: "2026-01-01T00:00:00Z" };
  return { formatVersion: 1, record, ...said, ...more };
}

/** The reasons of the decisions that count. */
const counting = (lines: Adjudication[], source?: ReturnType<typeof from>) =>
  decisionsOf(lines, source).flatMap(({ counts, reason }) => (counts ? [reason] : []));

test("of several decisions made here the last line counts, whatever its date, and all are kept", () => {
  const lines = [line("one", "pass"), line("two", "fail", { decidedAt: "2020-01-01T00:00:00Z" })];
  assert.deepEqual(counting(lines), ["two"]);
  assert.deepEqual(
    decisionsOf(lines).map(({ reason }) => reason),
    ["one", "two"],
  );
});

test("each rule has a decision of its own", () => {
  assert.deepEqual(counting([line("a", "pass"), line("b", "fail", { rule: "in-time" })]), ["a", "b"]);
});

test("an imported decision counts on a record of the same source, and on no other", () => {
  const lines = [line("theirs", "pass", { origin: from("b") })];
  assert.deepEqual(counting(lines), [], "on a record that was made here");
  assert.deepEqual(counting(lines, from("c")), [], "on a record of another archive");
  assert.deepEqual(counting(lines, from("b")), ["theirs"]);
  const signed = [line("theirs", "pass", { origin: from("b", "key") })];
  assert.deepEqual(counting(signed, from("c", "key")), ["theirs"], "of another archive by one signer");
});

test("an imported decision does not win over one made here, unless a person prefers it", () => {
  const theirs = line("theirs", "fail", { origin: from("b") });
  for (const lines of [
    [line("ours", "pass"), theirs],
    [theirs, line("ours", "pass")],
  ])
    assert.deepEqual(counting(lines, from("b")), ["ours"]);
  const preferred = { ...theirs, preferred: true };
  assert.deepEqual(counting([theirs, line("ours", "pass"), preferred]), ["theirs"]);
  assert.deepEqual(counting([preferred, line("ours", "pass")]), ["ours"], "a later decision here wins again");
});

test("a decision that comes again is one decision, with its best origin", () => {
  const own = line("one", "pass");
  assert.deepEqual(decisionsOf([own, { ...own, origin: from("b") }]), decisionsOf([own]));
  const [found, ...others] = decisionsOf([
    { ...own, origin: from("b") },
    { ...own, origin: from("c", "key") },
    { ...own, origin: from("d") },
  ]);
  assert.deepEqual([found!.origin, others], [{ kind: "imported", signedBy: "key name" }, []]);
});
