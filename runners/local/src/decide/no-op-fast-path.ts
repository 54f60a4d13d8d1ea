// The short way for a run with nothing to do. A run that ended well leaves behind what it looked at when
// it decided; while all of that looks the same, a run with the same request has nothing to do.
// Anything else, a touched file too, takes the long way, which goes by content.
import { createHash } from "node:crypto";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { readMemory, writeMemory } from "../store/memory-file.ts";
import { checkFormat } from "../store/state-folder.ts";
import { type Consulted, statText } from "./consulted-files.ts";
import { looksTheSame, type StatSnapshot, seenBy } from "./stat-snapshot.ts";

/** Seen: sources, environments, laid-out results. */
type Unchanged<Said> = StatSnapshot & {
  formatVersion: 1;
  node: string;
  /** What the run said, to be said again. */
  said: Said;
};

function fileOf(root: string, request: unknown): string {
  const name = createHash("sha256").update(canonicalJson(request)).digest("hex").slice(0, 24);
  return join(root, ".mlrb", "cache", "memory", "unchanged", `${name}.json`);
}

/** What the last run for this request said, if nothing that it looked at has changed; else undefined. */
export function saidUnchanged<Said>(at: {
  repository: string;
  root: string;
  request: unknown;
}): Said | undefined {
  const { repository, root } = at;
  checkFormat(root);
  const held = readMemory<Unchanged<Said>>(fileOf(root, at.request), 1);
  if (held?.node !== process.version) return undefined;
  try {
    // a killed run's leftovers are cleared by the long way
    if (readdirSync(join(root, ".mlrb", "work")).length > 0) return undefined;
    return looksTheSame(repository, held) ? held.said : undefined;
  } catch {
    return undefined;
  }
}

/** A line in the journals for a run that had nothing to do. */
export function noteUnchanged(root: string, run: { pipeline: string; profile: string }): void {
  try {
    const line = canonicalJson({
      formatVersion: 1,
      event: "unchanged",
      time: new Date().toISOString(),
      ...run,
    });
    appendFileSync(join(root, ".mlrb", "journals", "unchanged.jsonl"), `${line}\n`);
  } catch {
    // a journal that cannot be written does not change what is so
  }
}

/** Leaves behind what a run that ended well looked at, and what the next one will say. `more` are absolute paths that must stay as they are. */
export function rememberUnchanged<Said>(
  at: { repository: string; root: string; request: unknown },
  { consulted, more, said }: { consulted: Consulted; more: string[]; said: Said },
): void {
  const { repository, root } = at;
  const seen = seenBy(consulted);
  if (!seen) return;
  for (const path of more) seen.stats[path] = statText(repository, path);
  const held: Unchanged<Said> = { formatVersion: 1, node: process.version, ...seen, said };
  writeMemory(fileOf(root, at.request), held);
}
