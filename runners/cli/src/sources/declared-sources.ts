// All declared sources, or the named ones, with their state in sources.lock.yaml and the tasks that use them.
import { manifestNames, readManifest, type Sources } from "@mlrb/core/spec/manifest";
import { type LockState, lockState, readSourceLock } from "@mlrb/core/spec/source-lock";
import { type Diagnostic, distinctDiagnostics, type Place } from "@mlrb/core/yaml/diagnostic";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import type { SourceManifest } from "@mlrb/formats/declared/source";

export type DeclaredSource = {
  manifest: SourceManifest;
  /** Where its repository is written. */
  place: Place;
  state: LockState;
  usedBy: string[];
};

/** In the order of `names`; without names all, sorted. */
export function declaredSources(
  names: string[],
  sources: Sources,
): { sources: DeclaredSource[] } | { problems: Diagnostic[] } {
  const known = manifestNames("source", sources).sort();
  const problems: Diagnostic[] = names
    .filter((name) => !known.includes(name))
    .map((name) => ({
      code: "unknown-source",
      message: `no source named "${name}"`,
      help: `${didYouMean(name, known)} \`pnpm pipeline list sources\` shows all ${known.length}`,
    }));
  const lock = readSourceLock(sources);
  if (Array.isArray(lock)) problems.push(...lock);
  const users = usersOf(sources);
  const found: DeclaredSource[] = [];
  for (const name of names.length === 0 ? known : new Set(names)) {
    const read = readManifest("source", name, sources);
    if (Array.isArray(read)) problems.push(...read);
    if (read === undefined || Array.isArray(read)) continue;
    found.push({
      manifest: read.value,
      place: read.place(["repository"]),
      state: lockState(read.value, Array.isArray(lock) ? undefined : lock?.value),
      usedBy: users.get(name) ?? [],
    });
  }
  return problems.length > 0 ? { problems: distinctDiagnostics(problems) } : { sources: found };
}

/** The tasks that download a source, by its name. A task with problems is left to `pipeline check`. */
function usersOf(sources: Sources): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const task of manifestNames("task", sources)) {
    const read = readManifest("task", task, sources);
    if (read === undefined || Array.isArray(read)) continue;
    for (const name of new Set(Object.values(read.value.downloads ?? {}).flat()))
      users.set(name, [...(users.get(name) ?? []), task]);
  }
  return users;
}
