import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "@mlrb/formats/judged/identity";
import { identityText, overlapText } from "./measured-texts.ts";

const tensor = (relations: Identity["tensors"][number]["relations"], constant = false) => ({
  ...{ name: "w", shape: [2, 2], finite: true, constant, relations },
});
const relation = (values: "equal" | "other", by: "place" | "map") => ({
  ...{ model: "base", tensor: "w", by, values, cosine: 0.5, difference: 0.5, repeated: 0 },
});

test("relations of weights are counted by model and kind, without constant tensors and without a verdict", () => {
  const text = identityText({
    formatVersion: 1,
    given: [],
    tensors: [
      ...[tensor([relation("equal", "place")]), tensor([relation("equal", "place")])],
      ...[tensor([relation("other", "map")]), tensor([relation("equal", "place")], true)],
    ],
    mixtures: [{ models: ["one", "two"], weights: [0.25, 0.751], tensors: [] }],
    known: [
      { model: "lab/known", looked: 4, matches: [{ tensor: "w", known: "k", by: "sizes", likeness: 1 }] },
    ],
    detail: "it is too large",
  });
  assert.deepEqual(text.split("\n").slice(1), [
    "base, by place, values equal: 2 tensors",
    "base, by map, values other: 1 tensors",
    "Weights of the nearest sum of given models: one,two: 0.25,0.75",
    "Like lab/known: 1 of 4 matrices",
    "Nothing was compared: it is too large",
  ]);
});

test("a place of an event that is not shown has no number, and one of several events has all", () => {
  const place = (line: string) => ({ kind: "trajectory" as const, place: line, ngrams: 1, rows: 0 });
  const text = overlapText(
    {
      formatVersion: 1,
      measure: { n: 4, wordsMin: 3, rowsMax: 10, normalisation: "letters-and-digits", share: 0.3 },
      rows: { all: 3, tested: 2, touched: 1, found: 0 },
      places: [place("1"), place("2")],
      ...{
        placesMore: 7,
        unread: [{ place: "x", why: "y" }],
        unreadMore: 2,
        downloads: { files: 3, read: 1 },
      },
    },
    (line) => (line === 0 ? [4, 5] : []),
  );
  assert.deepEqual(text.split("\n").slice(1), [
    "Of these, 1 have any of them in what the attempt held; 0 have 30 % of them or more.",
    "event 4 or 5: 1 n-grams; 0 such rows in this place alone",
    "event that is not shown: 1 n-grams; 0 such rows in this place alone",
    "7 more places have n-grams.",
    "3 places could not be read.",
    "2 of 3 downloaded files are not among what was read.",
  ]);
});
