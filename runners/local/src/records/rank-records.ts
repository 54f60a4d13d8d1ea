// Decides which of several records of one attempt is current. Dates order only records that were made here: an imported
// record may state any date. An imported record is current if it is the only one, or if a person chose it.
// Pure: no disk, no clock.

import type { RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import type { Line } from "./record-line.ts";
import type { Choices } from "./record-origins.ts";

export type Known = { origins: ReadonlyMap<string, RecordOrigin>; choices: Choices };

export type Ranking = {
  /** The record that is used. Undefined if there is none, or if only a person can decide. */
  current: Line | undefined;
  /** Whether the current record was made here or chosen by a person. */
  isTrusted: boolean;
  /** Imported records that nobody has decided about, and that are not current. */
  undecided: Line[];
  /** Declined imported records where no other record is left: a choice between other records, or in another slot. */
  declined: Line[];
};

/** `lines`: the records of one key or of one slot. */
export function rankRecords(lines: readonly Line[], { origins, choices }: Known): Ranking {
  const isImported = ({ record }: Line) => origins.has(record);
  const isChosen = ({ record }: Line) => choices.chosen.has(record);
  const isDeclined = ({ record }: Line) => choices.declined.has(record);
  const imported = lines.filter((line) => isImported(line) && !isChosen(line) && !isDeclined(line));
  const here = lines.filter((line) => !isImported(line));
  // what was made here after a choice wins over the choice, because someone asked for it to be made
  const after = here.filter((line) => !isChosen(line) && !isDeclined(line));
  const trusted = newest(after) ?? newest(lines.filter(isChosen)) ?? newest(here);
  if (trusted) return { current: trusted, isTrusted: true, undecided: imported, declined: [] };
  if (imported.length > 1 && !areVersions(imported, origins))
    return { current: undefined, isTrusted: false, undecided: imported, declined: [] };
  const current = newest(imported);
  return { current, isTrusted: false, undecided: [], declined: current ? [] : [...lines] };
}

/** Whether one source states the order of these records: attempts that one machine made with different keys. */
function areVersions(lines: Line[], origins: Known["origins"]): boolean {
  const sources = lines.map(({ record }) => {
    const { signingKey, archive } = origins.get(record)!;
    return signingKey ?? archive;
  });
  return new Set(sources).size === 1 && new Set(lines.map(({ key }) => key)).size === lines.length;
}

function newest(lines: readonly Line[]): Line | undefined {
  let found: Line | undefined;
  for (const line of lines) if (!found || found.startedAt <= line.startedAt) found = line;
  return found;
}
