// `pipeline doctor`: whether the sources that a profile downloads are locked and accepted, and whether they fit the disk.

import { sourceBytes } from "@mlrb/core/spec/source-bytes";
import { formatBytes } from "@mlrb/core/text/units";
import { typedProgram } from "../request/typed-program.ts";
import type { readConsents } from "../sources/consents.ts";
import type { DeclaredSource } from "../sources/declared-sources.ts";
import type { Check } from "./machine-checks.ts";
import { lacking } from "./source-gate.ts";

/** The files are in the store, again in the data that tasks make of them, and in the copies of running attempts. */
const copies = 3;

export function sourceChecks(
  sources: DeclaredSource[],
  { consents, freeBytes }: { consents: ReturnType<typeof readConsents>; freeBytes: number },
): Check[] {
  if (sources.length === 0) return [];
  const { open, unread } = lacking(sources, consents);
  const fits = downloadDiskBytes(sources) <= freeBytes;
  const found = `${downloadWords(sources)}; ${formatBytes(freeBytes)} free`;
  return [
    ...(open.length > 0
      ? [
          missing(
            "sources",
            `not locked: ${open.join(", ")}`,
            `${typedProgram()} sources lock ${open.join(" ")}`,
          ),
        ]
      : []),
    ...(unread.length > 0
      ? [
          missing(
            "licences",
            `not accepted: ${unread.join(", ")}`,
            `${typedProgram()} sources accept ${unread.join(" ")}`,
          ),
        ]
      : []),
    fits
      ? { name: "downloads", answer: "works", found }
      : {
          name: "downloads",
          answer: "note",
          found,
          help: `the store, the tasks' data and running attempts take up to ${copies} times as much: free space, or choose another --root`,
        },
  ];
}

function missing(name: string, found: string, help: string): Check {
  return { name, answer: "missing", found, help };
}

/** The disk that downloads take in all their copies, where sizes are known. */
export function downloadDiskBytes(sources: DeclaredSource[]): number {
  return copies * knownBytes(sources);
}

function knownBytes(sources: DeclaredSource[]): number {
  return sources.reduce((sum, { manifest, state }) => sum + (sourceBytes(manifest, state) ?? 0), 0);
}

/** `exact`: every size is that of a lock. */
export function downloadAmount(sources: DeclaredSource[]) {
  const unknown = sources.filter(({ manifest, state }) => sourceBytes(manifest, state) === undefined).length;
  const exact = sources.every(({ state }) => state.kind === "resolved");
  return { sources: sources.length, bytes: knownBytes(sources), unknown, exact };
}

/** How much comes from the hub. A size is marked as approximate until the source is locked. */
export function downloadWords(sources: DeclaredSource[]): string {
  const { bytes: known, unknown, exact } = downloadAmount(sources);
  const bytes = `${exact ? "" : "about "}${formatBytes(known)}`;
  const amount = unknown === sources.length ? "" : `, ${bytes}`;
  const rest = unknown === 0 ? "" : `, ${unknown} of unknown size`;
  return `${sources.length} ${sources.length === 1 ? "source" : "sources"}${amount}${rest}`;
}
