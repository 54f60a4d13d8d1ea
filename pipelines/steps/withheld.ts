// What the download gateway of a sealed attempt does not serve: evaluation repositories, except the files that
// their sources name in `serves`; the digests of their other files; and the rows of the task's private data, as
// hashes. Rows that are also in the public data are left out: agents have them.
//   node pipelines/steps/withheld.ts --param 'downloads=["mmlu"]' --input private=DIR --input public=DIR \
//     --output withheld=FILE
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { RowIndex, RowSearch } from "@mlrb/agents/hub/contents/row-search";
import { scoredRows } from "@mlrb/agents/hub/contents/scored-rows";
import { searchFile } from "@mlrb/agents/hub/contents/search-content";
import { withheldRows } from "@mlrb/agents/hub/contents/withheld-rows";
import { type SourceManifest, sourceManifest } from "@mlrb/formats/declared/source";
import { sourceLock } from "@mlrb/formats/declared/source-lock";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Withheld, WithheldRows } from "@mlrb/formats/stage/withheld";
import { filesIn } from "@mlrb/kit/files/files-in";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFile } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";
import { parse } from "yaml";

const { params, inputs, outputs } = stage();
const lock = mustFollow(
  sourceLock,
  parse(readFileSync(sourceFile("sources.lock.yaml"), "utf8")),
  "sources.lock.yaml",
);
const names = Array.isArray(params.downloads) ? params.downloads.map(String) : [];
const sources = names.map(readSource).filter(({ use }) => use === "evaluation");

const hashed = withheldRows(await scoredRows(inputs.private!));
const known = await rowsIn(inputs.public!, hashed);
const withheld: Withheld = {
  formatVersion: 1,
  sources: sources.map(({ name, type, repository, serves = [] }) => ({ name, type, repository, serves })),
  digests: [...new Set(sources.flatMap(withheldDigests))].sort(),
  texts: hashed.texts,
  rows: hashed.rows.filter((_, row) => !known.has(row)),
};
writeJson(outputs.withheld!, withheld);
console.log(
  `${withheld.rows.length} rows and ${withheld.digests.length} files are withheld; ${known.size} rows are public too`,
);

function readSource(name: string): SourceManifest {
  const file = `sources/${name}.yaml`;
  return mustFollow(sourceManifest, parse(readFileSync(sourceFile(file), "utf8")), file);
}

function withheldDigests({ name, serves = [] }: SourceManifest): string[] {
  const entry = lock.sources[name];
  if (entry?.kind !== "resolved") return [];
  return entry.files
    .filter(({ path }) => !serves.some((pattern) => matchesGlob(path, pattern)))
    .map(({ sha256 }) => sha256);
}

/** The places of the rows that occur in a file of the folder. */
async function rowsIn(folder: string, rows: WithheldRows): Promise<Set<number>> {
  const index = new RowIndex(rows);
  const scratch = mkdtempSync(join(tmpdir(), "withheld-"));
  const found = new Set<number>();
  for (const path of filesIn(folder)) {
    const search = new RowSearch(index);
    await searchFile(join(folder, path), {
      search,
      scratch,
      strict: false,
      bytesMax: Number.POSITIVE_INFINITY,
    });
    for (const row of search.foundRows()) found.add(row);
  }
  return found;
}
