// extract.json: an attempt as bounded plain text in numbered events, without the names of its agent and model. All
// that a judge reads.
import * as t from "../schema.ts";

export const extractEvent = t.wholeObject({
  number: t.about(t.positiveInteger, "from 1, without gaps"),
  kind: t.about(
    t.oneOf("prompt", "message", "reasoning", "call", "result", "note", "file", "measurement"),
    "file: a file that the attempt left or handed in, or what differs from the given one; measurement: of a mechanical check",
  ),
  text: t.text,
});
export type ExtractEvent = t.TypeOf<typeof extractEvent>;

export const extract = t.wholeFile("mlrb extract", 1, {
  events: t.listOf(extractEvent),
  leftOut: t.about(
    t.wholeObject({ events: t.count, characters: t.count }),
    "what did not fit: then no judge has read the whole attempt",
  ),
});
export type Extract = t.TypeOf<typeof extract>;
