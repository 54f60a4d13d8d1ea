// Published submissions in a repository of a hub. All files are of one commit. Of the repository only the records that name
// submissions are read, and the files of a submission that is scored again. The hub is not trusted: paths are checked, each
// file has at most its listed size, and the digest of the copy decides.
import { mkdirSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SourceManifest } from "@mlrb/formats/declared/source";
import {
  type HubAccess,
  HubTrouble,
  hubAccess,
  hubTrouble,
  isOfDisk,
  saveFile,
} from "../sources/hub-client.ts";
import { fileRequest, listedFiles, newestCommit } from "../sources/resolve-source.ts";
import {
  digestInRecord,
  noSubmission,
  type PublishedSubmissions,
  recordBytesMax,
} from "./published-folder.ts";

export type HubRepository = Pick<SourceManifest, "type" | "repository"> & {
  /** As typed. */
  named: string;
  revision: string | undefined;
};

/** `hf://datasets/ORG/NAME[@REVISION]`, or `hf://ORG/NAME[@REVISION]` for a model; undefined for other words. */
export function hubRepository(named: string): HubRepository | undefined {
  const [, datasets, repository, revision] =
    /^hf:\/\/(datasets\/)?(\w[\w.-]*\/\w[\w.-]*)(?:@(\w[\w./-]*))?$/.exec(named) ?? [];
  if (repository === undefined || /\.\.|\/\/|\/$/.test(`${repository}@${revision ?? ""}`)) return undefined;
  if (datasets === undefined && /^(datasets|models|spaces)\//.test(repository)) return undefined;
  return { named, type: datasets === undefined ? "model" : "dataset", repository, revision };
}

type ListedFile = { path: string; bytes: number };

type Opened = {
  of: HubRepository;
  hub: HubAccess;
  commit: string;
  /** By the folder DIGEST or RECORD at the top level. */
  folders: ReadonlyMap<string, readonly ListedFile[]>;
};

/** Lists the repository. A HubTrouble is returned. */
export async function hubSubmissions(
  of: HubRepository,
  env: NodeJS.ProcessEnv,
): Promise<PublishedSubmissions | HubTrouble> {
  try {
    const hub = hubAccess(env);
    const commit = await newestCommit(of, hub, of.revision);
    const files: ListedFile[] = [];
    const isChosen = (path: string) => /^[0-9a-f]{64}\//.test(path);
    for await (const { path, size, lfs } of listedFiles(of, hub, { revision: commit, isChosen }))
      files.push({ path, bytes: lfs?.size ?? size });
    const folders = Map.groupBy(files, ({ path }) => path.split("/")[0]!);
    const at: Opened = { of, hub, commit, folders };
    const records = new Map<string, string | undefined>();
    return { placeOf: (digest, work) => fetched(digest, work, { at, records }) };
  } catch (error) {
    return wordsHere(hubTrouble(error, of.named));
  }
}

/** `records`: the digests that the records read so far name, by folder. */
type Search = { at: Opened; records: Map<string, string | undefined> };

async function fetched(digest: string, work: string, { at, records }: Search) {
  try {
    const inside = await folderOf(digest, { at, records });
    const top = inside.split("/")[0]!;
    const files = (at.folders.get(top) ?? []).filter(({ path }) => path.startsWith(`${inside}/`));
    if (files.length === 0) return noSubmission(at.of.named);
    const { bavail, bsize } = statfsSync(work);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    // the copy that is scored needs the same again
    if (2 * bytes > bavail * bsize)
      return `disk-full: ${at.of.named} lists ${bytes} bytes for it, needed twice; ${bavail * bsize} are free under ${work}`;
    const folder = join(work, "published");
    for (const { path, bytes } of files) {
      const to = join(folder, path.slice(inside.length + 1));
      mkdirSync(dirname(to), { recursive: true });
      await saveFile(requestOf(path, at), { path: to, bytes });
    }
    return { path: work, inside: "published" };
  } catch (error) {
    if (isOfDisk(error)) return error.message;
    const { code, message, help } = hubTrouble(error, at.of.named);
    return `${code}: ${message}; ${help}`;
  }
}

/** Reads records until one names the digest; none if a folder without a record has the digest as its name. */
async function folderOf(digest: string, { at, records }: Search): Promise<string> {
  const recordIn = (name: string) => at.folders.get(name)?.find(({ path }) => path === `${name}/record.json`);
  for (const name of at.folders.has(digest) && !recordIn(digest) ? [] : at.folders.keys()) {
    const record = recordIn(name);
    if (record && !records.has(name)) records.set(name, await recordedDigest(record, at));
    if (records.get(name) === digest) return `${name}/submission`;
  }
  return digest;
}

async function recordedDigest({ path, bytes }: ListedFile, at: Opened): Promise<string | undefined> {
  if (bytes > recordBytesMax) return undefined;
  const { url, headers } = requestOf(path, at);
  return digestInRecord(await (await at.hub.fetch(url, { headers }, bytes)).text());
}

function requestOf(path: string, { of, hub, commit }: Opened) {
  return fileRequest(of, hub, { revision: commit, path });
}

function wordsHere(trouble: HubTrouble): HubTrouble {
  if (trouble.code !== "hub-offline") return trouble;
  return new HubTrouble(
    trouble.code,
    trouble.message,
    "unset HF_HUB_OFFLINE, or download the repository elsewhere and name its folder",
  );
}
