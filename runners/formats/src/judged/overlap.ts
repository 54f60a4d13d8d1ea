// overlap.json: how much of the scored rows occurs in what an attempt held. Counts and places, never a text.
import * as t from "../schema.ts";

export const overlapMeasure = t.wholeObject({
  n: t.about(t.positiveInteger, "words of an n-gram; a shorter text is one n-gram"),
  wordsMin: t.about(t.positiveInteger, "of a text; shorter ones, e.g. labels, say nothing about a row"),
  rowsMax: t.about(t.positiveInteger, "an n-gram of more rows is a common phrase and does not count"),
  normalisation: t.about(
    t.oneOf("letters-and-digits"),
    "words are runs of letters and digits after NFKC, in lower case; all else separates them",
  ),
  share: t.about(
    { type: "number", exclusiveMinimum: 0, maximum: 1 },
    "a row is found where this share of its n-grams occurs in all places together",
  ),
});
export type OverlapMeasure = t.TypeOf<typeof overlapMeasure>;

export const overlap = t.wholeFile("mlrb overlap", 1, {
  measure: overlapMeasure,
  rows: t.wholeObject({
    all: t.count,
    tested: t.about(t.count, "with n-grams, of which agents are given at most half"),
    touched: t.about(t.count, "tested rows of which any n-gram occurs"),
    found: t.count,
  }),
  places: t.about(
    t.listOf(
      t.wholeObject({
        kind: t.oneOf("workspace", "trajectory", "attachment", "submission"),
        place: t.about(t.anyText, "a path, or the number of an event"),
        ngrams: t.count,
        rows: t.about(t.count, "found by this place alone"),
      }),
    ),
    "most n-grams first; bounded",
  ),
  placesMore: t.count,
  unread: t.about(
    t.listOf(t.wholeObject({ place: t.anyText, why: t.anyText })),
    "what may hold text; bounded",
  ),
  unreadMore: t.count,
  downloads: t.about(
    t.wholeObject({ files: t.count, read: t.count }),
    "recorded ones of the hub, and those of them whose bytes the attempt left and that were read here",
  ),
});
export type Overlap = t.TypeOf<typeof overlap>;
