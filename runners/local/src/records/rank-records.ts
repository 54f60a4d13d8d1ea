// Decides which of several records of one attempt is current, and which a stage instance may use. Dates order only
// records that were made here: an imported record may state any date. An imported record is current if it is the
// only one, or if a person chose it. Pure: no disk, no clock.

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

/** `undecided`: digests of imported records that compete and are not used. */
export type Searched<Held> = { undecided: string[] } & (
  | { kind: "found"; held: Held }
  /** The slot has a record with another key. */
  | { kind: "stale"; held: Held }
  /** Only a person can decide. `held`: the slot's current record, with another key. */
  | { kind: "undecided"; held?: Held }
  | { kind: "none" }
);

/** First by key, then by slot. `read`: reads the record of a line. */
export function searchRecords<Held>(
  { byKey, bySlot }: Record<"byKey" | "bySlot", Ranking>,
  read: (line: Line) => Held,
): Searched<Held> {
  const lines = [...byKey.undecided, ...bySlot.undecided];
  const isFree = bySlot.current ? !bySlot.isTrusted : bySlot.undecided.length === 0;
  if (byKey.current && !byKey.isTrusted && !isFree) lines.push(byKey.current);
  else if (byKey.current) return { kind: "found", held: read(byKey.current), undecided: recordNames(lines) };
  // declined in another slot, or before the chosen record was removed: a person decides again before anything is
  // paid
  if (!bySlot.isTrusted) lines.push(...byKey.declined, ...bySlot.declined);
  const undecided = recordNames(lines);
  const held = bySlot.current && read(bySlot.current);
  const isOpen =
    byKey.current || byKey.undecided.length > 0 || (!bySlot.isTrusted && byKey.declined.length > 0);
  if (isOpen || (!held && undecided.length > 0))
    return { kind: "undecided", ...(held && bySlot.isTrusted && { held }), undecided };
  return held ? { kind: "stale", held, undecided } : { kind: "none", undecided };
}

/** The digests of the lines' records, each once, in code-unit order. */
export function recordNames(lines: readonly Line[]): string[] {
  return [...new Set(lines.map(({ record }) => record))].sort();
}
