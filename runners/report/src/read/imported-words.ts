// Marks and footnotes for attempts that another machine made. Anyone can write an unsigned record, so every table that
// prints its numbers says so.

import { originText } from "@mlrb/core/key/reasons";
import type { MemberOrigin } from "@mlrb/formats/attempt/record-origin";
import { plainText } from "./plain-text.ts";

type Made = { origin?: MemberOrigin };

/** Follows a number that rests on an imported attempt. */
export const importedMark = "‡";

/** `‡` if one of `attempts` was imported. */
export function markOf(attempts: readonly Made[]): string {
  return attempts.some(({ origin }) => origin !== undefined) ? importedMark : "";
}

/** `imported, unsigned`; empty for an attempt that was made here. */
export function importedText({ origin }: Made): string {
  return origin ? plainText(`imported, ${originText(origin)}`) : "";
}

/** `1 attempt was imported, unsigned (‡).` Empty if all were made here. */
export function importedLine(attempts: readonly Made[]): string {
  const imported = attempts.filter(({ origin }) => origin !== undefined);
  if (imported.length === 0) return "";
  const ways = Map.groupBy(imported, ({ origin }) => plainText(originText(origin!)));
  const many = imported.length === 1 ? "1 attempt was" : `${imported.length} attempts were`;
  const [only] = ways.keys();
  const how =
    ways.size === 1
      ? `imported, ${only}`
      : `imported: ${[...ways].map(([way, of]) => `${of.length} ${way}`).join(", ")}`;
  return `${many} ${how} (${importedMark}).`;
}
