import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "@mlrb/kit/parse-duration";
import fc from "fast-check";
import { suggest } from "../yaml/suggest.ts";
import { formatDuration, parseSize } from "./units.ts";

test("durations are read with their units, alone or joined", () => {
  const read = {
    "350ms": 350,
    "90s": 90_000,
    "1.5h": 5_400_000,
    "1h30m": 5_400_000,
    "2d": 172_800_000,
    "0s": 0,
  };
  for (const [text, ms] of Object.entries(read)) assert.equal(parseDuration(text), ms, text);
});

test("a text without a unit or that is not a duration is refused", () => {
  for (const text of [
    "",
    "24",
    "h",
    "-1h",
    "1 h",
    "1e3s",
    ".5h",
    "1.h",
    "24H",
    "24h ",
    "1h30",
    `${"9".repeat(400)}h`,
    "∞h",
  ])
    assert.equal(parseDuration(text), undefined, text);
});

test("sizes are parsed in decimal and binary units, and other texts are refused", () => {
  assert.equal(parseSize("64GiB"), 64 * 2 ** 30);
  assert.equal(parseSize("12GB"), 12e9);
  assert.equal(parseSize("1.5kB"), 1500);
  assert.equal(parseSize("0B"), 0);
  for (const text of ["64", "64 GiB", "64gb", "GiB", "-1GB", "1KB", `${"9".repeat(30)}TiB`, ""])
    assert.equal(parseSize(text), undefined, text);
});

test("a duration is formatted for people", () => {
  const written = {
    0: "0 ms",
    994: "994 ms",
    995: "1.0 s",
    9949: "9.9 s",
    9950: "10 s",
    59499: "59 s",
    59500: "1 m 0 s",
    200000: "3 m 20 s",
    94200000: "26 h 10 m",
  };
  for (const [ms, text] of Object.entries(written)) assert.equal(formatDuration(Number(ms)), text);
});

test("no text makes parsing throw or take long", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const value of [parseDuration(text), parseSize(text)]) assert(value === undefined || value >= 0);
    }),
  );
  // a reader whose time is quadratic would take many minutes
  parseDuration(`${"1".repeat(1_000_000)}x`);
  parseDuration(`${"1s".repeat(500_000)}x`);
});

test("a typo is recognised, another word is not", () => {
  const names = ["accuracy", "bits-per-byte", "house-pairs"];
  assert.equal(suggest("acuracy", names), "accuracy");
  assert.equal(suggest("accuarcy", names), "accuracy");
  assert.equal(suggest("Bits-Per-Bite", names), "bits-per-byte");
  assert.equal(suggest("perplexity", names), undefined);
  assert.equal(suggest("x".repeat(1_000_000), names), undefined);
});
