// `pipeline attempts list`: every record, oldest first, then what goes on and what was lost.
import { join } from "node:path";
import { formatDuration } from "@mlrb/core/units";
import { type Ledger, readLedger } from "@mlrb/kit/rules/ledger";
import { attemptFolders } from "@mlrb/local/attempt-folders";
import type { HeldRecord } from "@mlrb/local/attempt-records";
import { displayWidth } from "@mlrb/report/terminal-text";
import { attemptsWord, type PlaceOptions } from "./attempts-command.ts";
import { attemptPlace } from "./find-attempt.ts";
import { oneLine } from "./one-line.ts";

export function attemptsList(repository: string, options: PlaceOptions): number {
  const { records, state } = attemptPlace(repository, options.root);
  const held = records
    .list()
    .map((digest) => ({ digest, record: records.read(digest) }))
    .sort((a, b) => (a.record.ran.startedAt < b.record.ran.startedAt ? -1 : 1))
    .map((one) => ({
      ...one,
      current: records.inSlot(one.record.slot)?.digest === one.digest,
      ledger: ledgerOf(one, join(state.attempts, "records")),
    }));
  const unfinished = [
    ...attemptFolders(state.running).map((one) => ({
      ...one,
      kind: one.state.kind === "lost" ? "lost" : "running",
    })),
    ...attemptFolders(join(state.attempts, "lost")).map((one) => ({ ...one, kind: "lost" })),
  ];
  if (options.json) {
    for (const { digest, record, current, ledger } of held) {
      const { slot, ran, cost } = record;
      const spent = { ended: ledger?.ended ?? null, tokens: ledger?.tokens ?? null };
      print({ event: "attempt", record: digest, current, slot, ran, cost, ...spent });
    }
    for (const { kind, name, card } of unfinished)
      print({ event: `attempt-${kind}`, name, slot: card.slot, startedAt: card.startedAt });
    return 0;
  }
  const rows = held.map(({ digest, record: { slot, ran, cost }, current, ledger }) => ({
    head: `${digest.slice(0, 12)}  ${ran.startedAt}  ${formatDuration(ran.durationMs).padStart(10)}`,
    spent: spentText(ledger, cost.dollars),
    tail: `${slot.pipeline} (${slot.profile})  ${slot.stage}  ${current ? "" : "older"}`.trimEnd(),
  }));
  const room = process.stdout.columns ?? Number(process.env.COLUMNS ?? Number.POSITIVE_INFINITY);
  // for all or for none: columns that come and go are read wrongly
  const fits = rows.every(({ head, spent, tail }) => displayWidth(`${head}  ${spent}  ${tail}`) <= room);
  for (const { head, spent, tail } of rows)
    process.stdout.write(`${oneLine([head, ...(fits ? [spent] : []), tail].join("  "))}\n`);
  for (const { kind, name, card } of unfinished)
    process.stdout.write(
      `${oneLine(`${kind.padEnd(12)}  ${card.startedAt}  ${card.slot.pipeline} (${card.slot.profile})  ${card.slot.stage}  ${name}`)}\n`,
    );
  process.stdout.write(`${attemptsWord(held.length)}${countWords(unfinished)}\n`);
  return 0;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function ledgerOf({ digest, record }: HeldRecord, folder: string): Ledger | undefined {
  const { ledger } = record.outputs;
  const read = ledger && readLedger(join(folder, digest, ledger.file));
  return typeof read === "object" ? read : undefined;
}

/** How it ended, tokens and dollars, in columns; what nobody counted is a dash. */
function spentText(ledger: Ledger | undefined, dollars: number | null): string {
  const tokens = ledger?.tokens ?? null;
  const spent = ledger?.dollars ?? dollars;
  return [
    (ledger?.ended ?? "-").padEnd(12),
    `${tokens === null ? "-" : tokens} tokens`.padStart(16),
    `${spent === null ? "-" : spent.toFixed(2)} dollars`.padStart(14),
  ].join("  ");
}

function countWords(unfinished: { kind: string }[]): string {
  const counts = Map.groupBy(unfinished, ({ kind }) => kind);
  return [...counts].map(([kind, of]) => `, ${of.length} ${kind}`).join("");
}
