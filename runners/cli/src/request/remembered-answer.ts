// Remembers answers, such as plans, together with a stat snapshot of all files consulted, and reuses an answer
// while the snapshot holds: parsing and checking YAML is most of the work of a command that reads.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { Consulted, runnerSources, type StatSnapshot } from "@mlrb/local/decide/consulted-files";
import { looksTheSame, seenBy } from "@mlrb/local/decide/stat-snapshot";
import { readMemory, writeMemory } from "@mlrb/local/store/memory-file";
import { giveTheSame } from "./scripted-pipeline.ts";

type Remembered<T> = StatSnapshot & {
  formatVersion: 1;
  node: string;
  /** The digest of their data, by the path of the program. */
  programs: Record<string, string>;
  answer: T;
};

type Asked = { repository: string; root: string; asked: Record<string, unknown>; consulted?: Consulted };

/** `keep`: the answer to remember; undefined for none. */
export type Made<T> = { keep: T | undefined };

/** How many answers are kept. They only save time. */
const keptMax = 60;

/**
 * The remembered answer to `asked`, a JSON value; undefined if none still holds, and then `make` was called, which
 * records the files that it reads in `consulted`. Nothing is kept in another `root` than the repository if it
 * has no state folder: it may be a wrong path. A `consulted` of the caller's, into which nothing was recorded yet,
 * gets what the answer was made from in both cases.
 */
export async function rememberedAnswer<T>(
  { repository, root, asked, consulted = new Consulted(repository) }: Asked,
  make: (consulted: Consulted) => Promise<Made<T>>,
): Promise<T | undefined> {
  const folder = join(root, ".mlrb", "cache", "memory", "plans");
  const name = createHash("sha256")
    .update(canonicalJson({ ...asked, repository }))
    .digest("hex")
    .slice(0, 24);
  const file = join(folder, `${name}.json`);
  const held = readMemory<Remembered<T>>(file, 1);
  if (
    held?.node === process.version &&
    // a program may write files that the answer was made from
    (await giveTheSame(repository, held.programs)) &&
    looksTheSame(repository, held)
  ) {
    consulted.sawBefore(held);
    for (const [path, digest] of Object.entries(held.programs)) consulted.programs.set(path, digest);
    return held.answer;
  }
  consulted.pattern(runnerSources); // before they change
  const { keep } = await make(consulted);
  const mayKeep = root === repository || existsSync(join(root, ".mlrb"));
  if (keep === undefined || !mayKeep) return undefined;
  const seen = seenBy(consulted, { programsToo: true });
  const programs = Object.fromEntries(consulted.programs);
  if (seen)
    remember(folder, file, { formatVersion: 1, node: process.version, programs, ...seen, answer: keep });
  return undefined;
}

function remember<T>(folder: string, file: string, held: Remembered<T>): void {
  if (existsSync(folder) && readdirSync(folder).length >= keptMax) rmSync(folder, { recursive: true });
  writeMemory(file, held);
}
