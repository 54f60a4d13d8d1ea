// Makes a task's official data from the downloads of its sources. Agents get data sets as the hub has them, under
// the hub's name, so `load_dataset("owner/name")` finds them from the folder of the data. Evaluation sets go into
// the private output, as the scorers read them.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Collected } from "@mlrb/formats/stage/collected";
import { downloadedFolder, readCollected } from "@mlrb/kit/collected";
import { filesIn } from "@mlrb/kit/files/files-in";
import { stage } from "@mlrb/kit/stage";
import { hubConfigs, hubRows } from "./hub-rows.ts";
import { writeRows } from "./smoke-stage.ts";

/** A set on which scores are taken: for each config the rows of one split, in FOLDER/CONFIG/SPLIT.jsonl. */
export type EvaluationSet = {
  source: string;
  folder: string;
  split: string;
  /** The number of configs that are scored. */
  configs: number;
  /** Configs of the set that are not scored. */
  except: string[];
};

export const mmlu: EvaluationSet = {
  source: "mmlu",
  folder: "mmlu",
  split: "test",
  configs: 57,
  except: ["all", "auxiliary_train"],
};
export const blimp: EvaluationSet = {
  source: "blimp",
  folder: "blimp",
  split: "train",
  configs: 67,
  except: [],
};
/** The two diagnostic sets have no metric; wsc.fixed is the same set as wsc, corrected. */
export const superGlue: EvaluationSet = {
  source: "super-glue",
  folder: "super_glue",
  split: "validation",
  configs: 8,
  except: ["axb", "axg", "wsc"],
};
/** The text of agent-eval's perplexity. Upstream measures it at every task. */
const wikitext: EvaluationSet = {
  source: "wikitext-2",
  folder: "wikitext",
  split: "test",
  configs: 1,
  except: [],
};

/** Whether the stage is to make official data; false for every other kind. */
export function isOfficial(): boolean {
  return stage().params.source === "official";
}

/** `open`: for agents, the hub's name of each source. Throws if a download is missing or a set is not complete. */
export async function officialData({
  open,
  evaluation,
}: {
  open: Record<string, string>;
  evaluation: EvaluationSet;
}): Promise<void> {
  const { outputs } = stage();
  const downloads = officialDownloads();
  const folderOf = (source: string) => downloadedFolder(downloads, source);
  for (const [source, name] of Object.entries(open))
    copyFolder(folderOf(source), join(outputs.public!, name));
  await writeEvaluation(folderOf(evaluation.source), outputs.private!, evaluation);
  await writeWikitext(downloads, outputs.private!);
}

export function officialDownloads(): Collected {
  const { inputs } = stage();
  if (!("manifest" in inputs))
    throw new Error("official data is made of downloads: name their manifest with --input manifest=FILE");
  return readCollected(inputs.manifest!);
}

export async function writeWikitext(downloads: Collected, hidden: string): Promise<void> {
  await writeEvaluation(downloadedFolder(downloads, wikitext.source), hidden, wikitext);
}

async function writeEvaluation(from: string, hidden: string, set: EvaluationSet): Promise<void> {
  const { source, folder, split, configs, except } = set;
  const scored = [...hubConfigs(from)].filter(([name]) => !except.includes(name));
  if (scored.length !== configs)
    throw new Error(
      `${source} has ${scored.length} configs, expected ${configs}: ${scored.map(([name]) => name).join(", ")}`,
    );
  for (const [name, splits] of scored) {
    const files = splits.get(split);
    if (files === undefined)
      throw new Error(`${source}: ${name} has no split ${split}, only ${[...splits.keys()].join(", ")}`);
    writeRows(join(hidden, folder, name), `${split}.jsonl`, await hubRows(from, files));
  }
}

/** Copies the files of a download. */
export function copyFolder(from: string, to: string): void {
  for (const path of filesIn(from)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}
