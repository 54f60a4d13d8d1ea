// Answers of commands that look again and again, remembered with all that they were made from and taken from
// there while all of that looks the same: parsing and checking YAML is most of what such a command would do.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { looksTheSame, type StatSnapshot, seenBy } from "@mlrb/local/decide/stat-snapshot";
import { readMemory, writeMemory } from "@mlrb/local/store/memory-file";

type Remembered<T> = StatSnapshot & { formatVersion: 2; node: string; answer: T };

/** `keep`: undefined where the answer is not to be remembered; else what is. */
export type Made<T> = { keep: T | undefined };

/** How many answers are kept: each is what somebody looks at, not a result. */
const keptMax = 60;

/**
 * The remembered answer to `asked`, a value as JSON holds it; undefined where there was none that still
 * holds, and `make` was called. It tells `consulted` what it looks at. Nothing is kept where `root` has no state.
 */
export async function rememberedAnswer<T>(
  { repository, root, asked }: { repository: string; root: string; asked: Record<string, unknown> },
  make: (consulted: Consulted) => Promise<Made<T>>,
): Promise<T | undefined> {
  const folder = join(root, ".mlrb", "cache", "memory", "plans");
  const name = createHash("sha256")
    .update(canonicalJson({ ...asked, repository }))
    .digest("hex")
    .slice(0, 24);
  const file = join(folder, `${name}.json`);
  const held = readMemory<Remembered<T>>(file, 2);
  if (held?.node === process.version && looksTheSame(repository, held)) return held.answer;
  const consulted = new Consulted(repository);
  const { keep } = await make(consulted);
  if (keep === undefined || !existsSync(join(root, ".mlrb"))) return undefined;
  const seen = seenBy(consulted);
  if (seen) remember(folder, file, { formatVersion: 2, node: process.version, ...seen, answer: keep });
  return undefined;
}

function remember<T>(folder: string, file: string, held: Remembered<T>): void {
  if (existsSync(folder) && readdirSync(folder).length >= keptMax) rmSync(folder, { recursive: true });
  writeMemory(file, held);
}
