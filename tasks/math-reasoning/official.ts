// Makes the official data: the training rows are public as the hub has them, and the authors' test set is private,
// in the layout of the scorers. Every public row stays public, so each item names its overlap with them as its
// group.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { downloadedFolder } from "@mlrb/kit/collected";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
import { hubConfigs, hubRows } from "../data/hub-rows.ts";
import { copyFolder, officialDownloads, writeWikitext } from "../data/official-data.ts";
import { writeRows } from "../data/smoke-stage.ts";
import { overlaps } from "./overlap.ts";
import type { Row } from "./split.ts";

const hubName = "AlgorithmicResearchGroup/math_reasoning_autoformalization_track";
const fields = ["name", "informal_statement", "informal_proof", "formal_proof"] as const;

const limits = { seconds: 120, memoryBytes: 4_000_000_000 };
const settings = {
  formatVersion: 1,
  generation: { maxNewTokens: 1024, secondsPerItem: 60 },
  lean3: {
    imports: ["tactic", "data.real.basic", "data.complex.basic", "algebra.big_operators.basic"],
    heartbeats: 100_000, // thousands of allocations, as mathlib's own builds
    secondsAll: 25_200, // 7 h: a score and its three rows with texts end within a stage's 24 h
    ...limits,
  },
  // for lean-compiles, where task.yaml lists it: Lean 4 with Mathlib
  lean: {
    ...{ language: "lean4", prelude: false, modules: [], imports: ["Mathlib"], preamble: "" },
    heartbeats: 200_000,
    ...limits,
  },
};

/** Throws if a download is missing or lacks its split. */
export async function officialMath(): Promise<void> {
  const { outputs } = stage();
  const downloads = officialDownloads();
  const [open, held] = ["math-reasoning", "math-reasoning-test"].map((name) =>
    downloadedFolder(downloads, name),
  ) as [string, string];
  copyFolder(open, join(outputs.public!, hubName));
  const train = uniqueNames(whole(await rowsOf(open, { split: "train", source: "math-reasoning" })).rows);
  const { rows, leftOut } = whole(await rowsOf(held, { split: "test", source: "math-reasoning-test" }));
  const test = uniqueNames(rows);
  const groups = overlaps(rows, train);
  writeRows(outputs.public!, "train.jsonl", train); // the reference rows copy from it
  const math = join(outputs.private!, "math");
  writeRows(
    math,
    "test.jsonl",
    test.map((row, at) => ({ ...row, group: groups[at] })),
  );
  writeFileSync(join(math, "settings.json"), `${canonicalJson(settings, 2)}\n`);
  await writeWikitext(downloads, outputs.private!);
  const counted = [...Map.groupBy(groups, (group) => group)].map(([name, all]) => `${all.length} ${name}`);
  console.log(`${test.length} test items: ${counted.join(", ")}; ${leftOut} rows are left out`);
}

async function rowsOf(folder: string, { split, source }: { split: string; source: string }): Promise<Row[]> {
  const configs = [...hubConfigs(folder).values()];
  const files = configs.flatMap((splits) => splits.get(split) ?? []);
  if (files.length === 0) {
    const found = configs.flatMap((splits) => [...splits.keys()]);
    throw new Error(`${source} has no split ${split}, only ${found.join(", ")}`);
  }
  const rows = await hubRows(folder, files);
  return rows.map((row) => Object.fromEntries(fields.map((name) => [name, textOf(row[name])])) as Row);
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Rows without a name, a statement or a formal proof have nothing to translate or to compare with. */
function whole(all: Row[]): { rows: Row[]; leftOut: number } {
  const rows = all.filter((row) =>
    [row.name, row.informal_statement, row.formal_proof].every((text) => text.trim() !== ""),
  );
  return { rows, leftOut: all.length - rows.length };
}

/** Scorers find items by name, so a repeated name gets a number: "sum", "sum #2". */
function uniqueNames(rows: Row[]): Row[] {
  const taken = new Set<string>();
  return rows.map((row) => {
    let name = row.name;
    for (let count = 2; taken.has(name); count++) name = `${row.name} #${count}`;
    taken.add(name);
    return { ...row, name };
  });
}
