// overlap.json: how much of the scored rows occurs in what an attempt held. Counts and places, never a text.
import * as t from "../schema.ts";

export const overlapMeasure = t.wholeObject({
  n: t.about(t.positiveInteger, "words of an n-gram"),
  ngramsMin: t.about(t.positiveInteger, "different n-grams that a row needs to be tested"),
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
    tested: t.about(t.count, "with enough n-grams that agents are not given"),
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
  unread: t.about(t.listOf(t.wholeObject({ place: t.anyText, why: t.anyText })), "bounded"),
  unreadMore: t.count,
  evaluationFiles: t.about(t.count, "downloads that are a file of a source on which scores are taken"),
});
export type Overlap = t.TypeOf<typeof overlap>;
