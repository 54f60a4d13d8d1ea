// `pipeline sources list`: the sources of official data and published models, and what is known of each.
import { sourceBytes } from "@mlrb/core/spec/source-bytes";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { statePaths } from "@mlrb/local/store/state-folder";
import { refuse } from "../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { typedProgram } from "../request/typed-program.ts";
import { printJson } from "../show/print.ts";
import { isAccepted, readConsents } from "./consents.ts";
import { declaredSources } from "./declared-sources.ts";
import { bytesWords, licenceWords, stateWords } from "./source-words.ts";

export function sourcesList(repository: string, names: string[], options: PlaceOptions): 0 | 2 {
  const declared = declaredSources(names, sourceFiles(repository));
  if ("problems" in declared) return refuse(declared.problems, options.json);
  const consents = readConsents(statePaths(rootFolder(repository, options.root)).state);
  const rows = declared.sources.map((source) => {
    const { manifest, state } = source;
    const accepted = state.kind === "resolved" && isAccepted(manifest.name, state.entry, consents);
    return { ...source, accepted };
  });
  if (options.json) {
    for (const { manifest, state, usedBy, accepted } of rows) {
      const { name, repository, type, use } = manifest;
      const bytes = sourceBytes(manifest, state) ?? null;
      const entry = state.kind === "resolved" ? state.entry : null;
      const { revision = null, licence = null, gated = null } = entry ?? {};
      const files = entry?.files.length ?? null;
      const declared = { name, repository, type, use, state: state.kind };
      const known = { revision, licence, gated, files, bytes, exact: entry !== null };
      printJson({ event: "source", ...declared, ...known, accepted, usedBy });
    }
  } else process.stdout.write(table(rows));
  return 0;
}

function table(rows: (Parameters<typeof bytesWords>[0] & { accepted: boolean; usedBy: string[] })[]): string {
  const lines = columnLines(
    rows.map((row) => {
      const { manifest, accepted, usedBy } = row;
      const consent = accepted ? ", accepted" : "";
      const users = usedBy.length === 0 ? "no task" : usedBy.join(", ");
      const words = `${stateWords(row.state)}; ${licenceWords(row)}${consent}; for ${users}`;
      return [manifest.name, `${manifest.type} ${manifest.repository}`, bytesWords(row), words];
    }),
    [2],
  );
  const open = rows.filter(({ state }) => state.kind !== "resolved").length;
  const note =
    open === 0
      ? []
      : [
          "",
          `${open} of ${rows.length} are not locked: \`${typedProgram()} sources lock\` resolves them on the hub`,
        ];
  return `${[...lines, ...note].join("\n")}\n`;
}
