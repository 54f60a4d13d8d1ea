// The footnotes of every table with numbers of attempts: how many were made in a way that readers must know.

import { interventionLine } from "../story/intervention-words.ts";
import { importedLine } from "./imported-words.ts";
import { resumedLine } from "./resumed-words.ts";
import { uncheckedLine } from "./unchecked-words.ts";

type Attempts = Parameters<typeof importedLine>[0] &
  Parameters<typeof uncheckedLine>[0] &
  Parameters<typeof resumedLine>[0] &
  Parameters<typeof interventionLine>[0];

/** Empty if there is nothing to say. */
function footnotes(attempts: Attempts): string {
  return [importedLine(attempts), uncheckedLine(attempts), resumedLine(attempts), interventionLine(attempts)]
    .filter((text) => text !== "")
    .join(" ");
}

/** A caption that ends with the footnotes, if there are any. */
export function withFootnotes(caption: string, attempts: Attempts): string {
  return [caption, footnotes(attempts)].filter((text) => text !== "").join(" ");
}
