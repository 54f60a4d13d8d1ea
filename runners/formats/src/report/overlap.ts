// How much of the scored rows occurs in what an attempt held, in report.json.
import { overlap } from "../judged/overlap.ts";
import * as t from "../schema.ts";

const { measure, rows, places, placesMore, unread, unreadMore, downloads } = overlap.properties;

export const attemptOverlap = t.about(
  t.kindsOf(
    t.variant("measured", { measure, rows, places, placesMore, unread, unreadMore, downloads }),
    t.variant("not-measured", { cause: t.anyText }),
  ),
  "a mark; it changes no number. Absent if the pipeline does not measure it",
);
export type AttemptOverlap = t.TypeOf<typeof attemptOverlap>;
