// `pipeline sources accept`: shows the licence and the terms of each locked source, and records that a person
// accepts them. A run downloads nothing before that.
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { saysYes } from "../gates/cost-gate.ts";
import { refuse } from "../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { printJson } from "../show/print.ts";
import { isAccepted, readConsents, recordConsent } from "./consents.ts";
import { type DeclaredSource, declaredSources } from "./declared-sources.ts";
import { bytesWords, licenceWords, pageOf } from "./source-words.ts";

export async function sourcesAccept(
  repository: string,
  names: string[],
  options: PlaceOptions & { yes: boolean },
): Promise<0 | 1 | 2> {
  const declared = declaredSources(names, sourceFiles(repository));
  if ("problems" in declared) return refuse(declared.problems, options.json);
  // without names: those that are locked; a named one must be
  const open = declared.sources.filter(({ state }) => state.kind !== "resolved");
  if (names.length > 0 && open.length > 0)
    return refuse([notLocked(open.map(({ manifest }) => manifest.name))], options.json);
  const { state: folder } = stateFolder(rootFolder(repository, options.root));
  const consents = readConsents(folder);
  const asked = declared.sources.flatMap((source) =>
    source.state.kind === "resolved" && !isAccepted(source.manifest.name, source.state.entry, consents)
      ? [{ ...source, entry: source.state.entry }]
      : [],
  );
  for (const source of asked) showTerms(source, options.json);
  if (asked.length > 0 && !options.yes) {
    if (!process.stdin.isTTY || options.json) return refuse([notAsked], options.json);
    if (!(await saysYes(`Do you accept ${counted(asked.length, "licence")}?`))) return 1;
  }
  const now = new Date();
  for (const { manifest, entry } of asked) {
    recordConsent(folder, manifest.name, entry, now);
    if (options.json) printJson({ event: "accepted", source: manifest.name, licence: entry.licence });
  }
  if (!options.json)
    process.stdout.write(
      `${counted(asked.length, "source")} accepted, ${declared.sources.length - asked.length - open.length} before, ${open.length} not locked\n`,
    );
  return 0;
}

type Asked = DeclaredSource & { entry: LockedSource };

function showTerms({ manifest, state, entry }: Asked, json: boolean): void {
  const page = pageOf(entry);
  if (json) {
    const { licence, gated, revision } = entry;
    printJson({ event: "terms", source: manifest.name, licence, gated, revision, page });
  } else {
    const source = { manifest, state };
    process.stdout.write(`${manifest.name}: ${licenceWords(source)}; ${bytesWords(source)}; ${page}\n`);
  }
}

const notAsked: Diagnostic = {
  code: "no-answer",
  message: "this is no terminal, or --json was passed, so no question can be asked",
  help: "read the pages that are named above, then pass --yes",
};

function notLocked(names: string[]): Diagnostic {
  return {
    code: "unresolved-source",
    message: `${names.join(", ")}: the licence is not known before the source is locked`,
    help: `\`pnpm pipeline sources lock ${names.join(" ")}\` resolves it`,
  };
}
