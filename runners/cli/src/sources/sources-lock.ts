// `pipeline sources lock`: resolves sources on the hub, and writes each to sources.lock.yaml as soon as it is
// known. A source that cannot be resolved keeps its entry.
import { manifestNames } from "@mlrb/core/spec/manifest";
import { sourceLockFile } from "@mlrb/core/spec/source-lock";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { printDiagnostics, refuse } from "../request/refuse.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { printJson } from "../show/print.ts";
import { compareSources } from "./compare-sources.ts";
import { type DeclaredSource, declaredSources } from "./declared-sources.ts";
import { type HubAccess, HubTrouble, hubAccess } from "./hub-client.ts";
import { resolveSource } from "./resolve-source.ts";
import { bytesWords, licenceWords, stateWords } from "./source-words.ts";
import { lockSource } from "./write-lock.ts";

/** Returns 1 if a source could not be resolved, 2 if nothing was asked. */
export async function sourcesLock(
  repository: string,
  names: string[],
  options: PlaceOptions & { update: boolean },
): Promise<0 | 1 | 2> {
  const files = sourceFiles(repository);
  const declared = declaredSources(names, files);
  if ("problems" in declared) return refuse(declared.problems, options.json);
  const wanted = declared.sources.filter(({ state }) => options.update || state.kind !== "resolved");
  const all = manifestNames("source", files);
  const { json } = options;
  const lock = (source: DeclaredSource, hub: HubAccess) => lockOne(source, { repository, all, hub, json });
  const failed = await onHub(wanted, lock, json);
  if (failed === undefined) return 2;
  const locked = wanted.length - failed;
  const left = declared.sources.length - wanted.length;
  const words = `${counted(locked, "source")} written to ${sourceLockFile}, ${left} locked already, ${failed} not resolved`;
  if (json) printJson({ event: "summary", locked, left, failed });
  else process.stdout.write(`${words}\n`);
  return failed > 0 ? 1 : 0;
}

async function lockOne(
  source: DeclaredSource,
  at: { repository: string; all: string[]; hub: HubAccess; json: boolean },
): Promise<void> {
  const { manifest, state } = source;
  const entry = await resolveSource(manifest, at.hub);
  lockSource(at.repository, at.all, { name: manifest.name, entry });
  const now = { ...source, state: { kind: "resolved", entry } as const };
  const changes = state.kind === "resolved" ? compareSources(state.entry, entry) : [];
  if (at.json) {
    const { revision, licence, gated, files } = entry;
    const about = { source: manifest.name, revision, licence, gated, files: files.length };
    printJson({ event: "locked", ...about, changes });
    return;
  }
  const files = counted(entry.files.length, "file");
  process.stdout.write(
    `${manifest.name}: ${stateWords(now.state)}, ${files}, ${bytesWords(now)}, ${licenceWords(now)}\n`,
  );
  for (const change of changes) process.stdout.write(`  ${change}\n`);
}

/** Does `work` for each source. Returns how often the hub gave no usable answer; undefined after refusing to ask it. */
export async function onHub(
  sources: DeclaredSource[],
  work: (source: DeclaredSource, hub: HubAccess) => Promise<void>,
  json: boolean,
): Promise<number | undefined> {
  let hub: HubAccess;
  try {
    hub = hubAccess(process.env);
  } catch (error) {
    refuse([diagnosticOf(error)], json);
    return undefined;
  }
  const problems: Diagnostic[] = [];
  for (const source of sources) {
    try {
      await work(source, hub);
    } catch (error) {
      problems.push({ ...diagnosticOf(error), place: source.place });
    }
  }
  printDiagnostics(problems, json);
  return problems.length;
}

/** Throws what is no trouble of the hub. */
function diagnosticOf(error: unknown): Diagnostic {
  if (!(error instanceof HubTrouble)) throw error;
  const { code, message, help } = error;
  return { code, message, help };
}
