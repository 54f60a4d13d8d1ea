// Reads rows of a data set as a hub keeps it: which files hold a split of a config, and what is in them.
import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path/posix";
import { isTable } from "@mlrb/formats/is-table";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { parse } from "yaml";

export type HubRow = Record<string, unknown>;

/** The files of each split, by config; configs and splits in the order of the card. */
export type HubConfigs = Map<string, Map<string, string[]>>;

const card = "README.md";

/** From the card's `configs`; without them from folders: CONFIG/SPLIT-….parquet. Throws if neither names a file. */
export function hubConfigs(folder: string): HubConfigs {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(parquet|jsonl)$/.test(path))
    .sort();
  const configs = files.length === 0 ? new Map() : (ofCard(folder, files) ?? ofFolders(files));
  if (configs.size === 0)
    throw new Error(`${folder} holds no Parquet or JSON Lines file that belongs to a split`);
  return configs;
}

function ofCard(folder: string, files: string[]): HubConfigs | undefined {
  if (!readdirSync(folder).includes(card)) return undefined;
  const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(join(folder, card), "utf8"))?.[1];
  const about: unknown = front === undefined ? undefined : parse(front);
  const listed = isTable(about) && Array.isArray(about.configs) ? about.configs : [];
  const configs: HubConfigs = new Map();
  for (const config of listed) {
    if (!isTable(config) || !Array.isArray(config.data_files)) continue;
    const splits = new Map<string, string[]>();
    for (const entry of config.data_files) {
      if (!isTable(entry)) continue;
      const patterns = [entry.path].flat().filter((one) => typeof one === "string");
      const found = files.filter((file) => patterns.some((pattern) => matchesGlob(file, pattern)));
      if (found.length > 0) splits.set(String(entry.split), found);
    }
    if (splits.size > 0) configs.set(String(config.config_name), splits);
  }
  return configs.size > 0 ? configs : undefined;
}

/** `data/` is the folder of a data set with one config. */
function ofFolders(files: string[]): HubConfigs {
  const configs: HubConfigs = new Map();
  for (const file of files) {
    const [, folder = "data", split] = /^(?:(.+)\/)?([A-Za-z]+)[^/]*$/.exec(file) ?? [];
    if (split === undefined) continue;
    const config = folder === "data" ? "default" : folder;
    const splits = configs.getOrInsertComputed(config, () => new Map());
    splits.set(split, [...(splits.get(split) ?? []), file]);
  }
  return configs;
}

/** All rows of `files`, in order. Whole numbers of 64 bits become numbers. Throws where one is too large for that. */
export async function hubRows(folder: string, files: string[]): Promise<HubRow[]> {
  const rows: HubRow[] = [];
  for (const name of files) {
    const path = join(folder, name);
    if (name.endsWith(".parquet")) {
      const file = await asyncBufferFromFile(path);
      for (const row of await parquetReadObjects({ file, compressors })) rows.push(plain(row) as HubRow);
    } else {
      for (const line of readFileSync(path, "utf8").split("\n"))
        if (line.trim() !== "") rows.push(JSON.parse(line));
    }
  }
  return rows;
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new Error(`${value} is too large for JSON`);
    return number;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  return value;
}
