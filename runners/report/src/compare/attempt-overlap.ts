// The overlap of what an attempt held with scored rows, as tables show it. Paths are an agent's: they are hostile.
import { counted } from "@mlrb/core/text/counted";
import type { Overlap } from "@mlrb/formats/judged/overlap";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptOverlap } from "@mlrb/formats/report/overlap";
import { plainText } from "../read/plain-text.ts";

const listedMax = 5;

export function attemptOverlap(found: Reading<Overlap>): AttemptOverlap {
  if (found.kind !== "ok") return { kind: "not-measured", cause: found.cause };
  const { formatVersion: _, places, placesMore, unread, unreadMore, ...counts } = found.value;
  return {
    kind: "measured",
    ...counts,
    places: places.slice(0, listedMax).map((one) => ({ ...one, place: plainText(one.place) })),
    placesMore: placesMore + Math.max(0, places.length - listedMax),
    unread: unread
      .slice(0, listedMax)
      .map(({ place, why }) => ({ place: plainText(place), why: plainText(why) })),
    unreadMore: unreadMore + Math.max(0, unread.length - listedMax),
  };
}

/** Empty where no row is found. */
export function overlapText(found: AttemptOverlap | undefined): string {
  if (found?.kind !== "measured" || found.rows.found === 0) return "";
  const { rows } = found;
  return `${rows.found} of ${counted(rows.tested, "tested scored row")} in what it held, see Overlap`;
}
