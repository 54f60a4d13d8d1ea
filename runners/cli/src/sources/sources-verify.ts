// `pipeline sources verify`: asks the hub for each locked commit again, and shows what differs.

import { counted } from "@mlrb/core/text/counted";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { refuse } from "../request/refuse.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { typedProgram } from "../request/typed-program.ts";
import { printJson } from "../show/print.ts";
import { compareSources } from "./compare-sources.ts";
import { type DeclaredSource, declaredSources } from "./declared-sources.ts";
import type { HubAccess } from "./hub-client.ts";
import { newestCommit, resolveSource } from "./resolve-source.ts";
import { stateWords } from "./source-words.ts";
import { onHub } from "./sources-lock.ts";

/** Returns 1 if a source differs, is not locked, or could not be compared. */
export async function sourcesVerify(
  repository: string,
  names: string[],
  options: PlaceOptions,
): Promise<0 | 1 | 2> {
  const declared = declaredSources(names, sourceFiles(repository));
  if ("problems" in declared) return refuse(declared.problems, options.json);
  let differing = 0;
  const verify = async (source: DeclaredSource, hub: HubAccess) => {
    const differences = await differencesOf(source, hub);
    if (differences.length > 0) differing++;
    print(source.manifest.name, differences, options.json);
  };
  const failed = await onHub(declared.sources, verify, options.json);
  if (failed === undefined) return 2;
  const equal = declared.sources.length - differing - failed;
  if (options.json) printJson({ event: "summary", equal, differing, failed });
  else
    process.stdout.write(
      `${counted(equal, "source")} as locked, ${differing} differ, ${failed} could not be compared\n`,
    );
  return differing + failed > 0 ? 1 : 0;
}

function print(source: string, differences: string[], json: boolean): void {
  if (json) printJson({ event: "verified", source, differences });
  else if (differences.length === 0) process.stdout.write(`${source}: as locked\n`);
  else process.stdout.write(`${source}:\n${differences.map((line) => `  ${line}\n`).join("")}`);
}

/** A source whose manifest names a commit may have newer ones; the others follow the newest. */
async function differencesOf({ manifest, state }: DeclaredSource, hub: HubAccess): Promise<string[]> {
  if (state.kind !== "resolved")
    return [`not locked (${stateWords(state)}): \`${typedProgram()} sources lock ${manifest.name}\``];
  const { entry } = state;
  const newest = manifest.revision === undefined ? await newestCommit(manifest, hub) : entry.revision;
  const found = await resolveSource(manifest, hub, entry.revision);
  const differences = compareSources(entry, found);
  if (newest === entry.revision) return differences;
  // the card of the newest commit counts too: a licence can change without a change of the data
  const later = compareSources(entry, await resolveSource(manifest, hub, newest));
  return [
    `revision: ${entry.revision} is locked, the newest commit is ${newest}`,
    ...new Set([...differences, ...later].filter((line) => !line.startsWith("revision: "))),
  ];
}
