// Resolves a source on the hub: its commit, its files with sizes and digests, its licence, and whether it is
// gated.
import { createHash } from "node:crypto";
import { matchesGlob } from "node:path/posix";
import { datasetInfo, listCommits, listFiles, modelInfo, type RepoDesignation } from "@huggingface/hub";
import type { SourceManifest } from "@mlrb/formats/declared/source";
import {
  type LockedFile,
  type LockedSource,
  lockedSource,
  pathInside,
} from "@mlrb/formats/declared/source-lock";
import { checkFormat } from "@mlrb/formats/read-format";
import { count, openObject, sha256, type TypeOf } from "@mlrb/formats/schema";
import { type HubAccess, HubTrouble, hubTrouble } from "./hub-client.ts";

/** The hub keeps larger files outside git, with their SHA-256. */
const plainBytesMax = 64 << 20;
const filesMax = 20_000;
/** Of one list of files or commits, chosen or not. A hub gives 1000 entries in a page. */
const entriesMax = 100_000;
const pagesMax = 200;

const gitHash = { type: "string", pattern: "^[0-9a-f]{40}$" } as const;
const card = openObject(
  {
    sha: gitHash,
    gated: { enum: [false, "auto", "manual"] },
    cardData: openObject(
      { license: { type: ["string", "array", "null"] }, license_name: { type: ["string", "null"] } },
      [],
    ),
  },
  ["sha"],
);
const treeFile = openObject(
  {
    path: pathInside,
    size: count,
    oid: gitHash,
    lfs: openObject({ oid: sha256, size: count }, ["oid", "size"]),
  },
  ["path", "size", "oid"],
);
type Card = TypeOf<typeof card>;
type TreeFile = TypeOf<typeof treeFile>;

/** At the commit that the manifest asks for, or at `revision`. Throws HubTrouble. */
export async function resolveSource(
  manifest: SourceManifest,
  hub: HubAccess,
  revision?: string,
): Promise<LockedSource> {
  const { repository, type, files: patterns = [] } = manifest;
  try {
    const commit = revision ?? (await commitOf(manifest, hub));
    const about = await cardOf(manifest, hub, commit);
    if (about.sha !== commit)
      throw new HubTrouble(
        "hub-answer",
        `${repository}: the hub answered commit ${about.sha} when asked for ${commit}`,
        "does HF_ENDPOINT name a hub that keeps commits?",
      );
    const files: LockedFile[] = [];
    for (const file of await treeOf(manifest, hub, commit))
      files.push({
        path: file.path,
        size: file.lfs?.size ?? file.size,
        sha256: await digestOf(file, { manifest, hub, commit }),
      });
    const found = {
      repository,
      type,
      revision: commit,
      licence: licenceOf(about),
      gated: about.gated === "auto" || about.gated === "manual" ? about.gated : "none",
      patterns: [...patterns],
      files,
    };
    return answered(lockedSource, found, repository);
  } catch (error) {
    throw hubTrouble(error, `${type} ${repository}`);
  }
}

/** The newest commit of the main branch. */
export async function newestCommit(manifest: SourceManifest, hub: HubAccess): Promise<string> {
  try {
    return (await cardOf(manifest, hub, "main")).sha;
  } catch (error) {
    throw hubTrouble(error, `${manifest.type} ${manifest.repository}`);
  }
}

function repoOf({ type, repository }: SourceManifest): RepoDesignation {
  return { type, name: repository };
}

/** The parameters of one call of the client, which asks for page after page as long as the hub names a next one. */
function asked({ endpoint, token, fetch }: HubAccess) {
  let pages = 0;
  const counted = async (...request: Parameters<typeof fetch>): Promise<Response> => {
    if (++pages > pagesMax) throw endless(`${pagesMax} pages`);
    return fetch(...request);
  };
  return { hubUrl: endpoint, fetch: counted, ...(token !== undefined && { accessToken: token }) };
}

function endless(most: string): HubTrouble {
  return new HubTrouble(
    "endless-list",
    `the hub's list does not end after ${most}`,
    "does HF_ENDPOINT name a hub? A revision of all 40 digits needs no list of commits; a repository with more files cannot be a source",
  );
}

/** The hub itself takes only whole hashes, so the beginning of one is searched among the commits. */
async function commitOf(manifest: SourceManifest, hub: HubAccess): Promise<string> {
  const { repository, revision } = manifest;
  if (revision === undefined) return (await cardOf(manifest, hub, "main")).sha;
  if (revision.length === 40) return revision;
  const matching = new Set<string>();
  const commits = listCommits({ repo: repoOf(manifest), batchSize: 1000, ...asked(hub) });
  let count = 0;
  for await (const { oid } of commits) {
    if (++count > entriesMax) throw endless(`${entriesMax} entries`);
    if (oid.startsWith(revision)) matching.add(oid);
  }
  const [only, ...more] = matching;
  if (only !== undefined && more.length === 0) return only;
  throw new HubTrouble(
    "unknown-revision",
    `${repository}: ${matching.size === 0 ? "no commit begins" : `${matching.size} commits begin`} with ${revision}`,
    "write more digits of the commit, or leave revision out for the newest one",
  );
}

async function cardOf(
  { type, repository: name }: SourceManifest,
  hub: HubAccess,
  revision: string,
): Promise<Card> {
  const info =
    type === "dataset"
      ? await datasetInfo({ name, revision, additionalFields: ["sha", "cardData"], ...asked(hub) })
      : await modelInfo({ name, revision, additionalFields: ["sha", "cardData"], ...asked(hub) });
  const { sha, gated, cardData } = info;
  return answered(card, { sha, gated: gated ?? false, ...(cardData && { cardData }) }, name);
}

/** Several licences are joined; `other` is followed by the name that the card gives. */
function licenceOf({ cardData }: Card): string | null {
  const { license, license_name: named } = cardData ?? {};
  const written = [license ?? []]
    .flat()
    .filter((one): one is string => typeof one === "string" && one !== "");
  if (written.length === 0) return null;
  return written.includes("other") && named ? `${written.join(", ")} (${named})` : written.join(", ");
}

async function treeOf(manifest: SourceManifest, hub: HubAccess, revision: string): Promise<TreeFile[]> {
  const { repository, files: patterns } = manifest;
  const found: TreeFile[] = [];
  const entries = listFiles({ repo: repoOf(manifest), recursive: true, revision, ...asked(hub) });
  let count = 0;
  for await (const entry of entries) {
    if (++count > entriesMax) throw endless(`${entriesMax} entries`);
    if (entry.type !== "file" || entry.path === ".gitattributes") continue;
    if (patterns && !patterns.some((pattern) => matchesGlob(entry.path, pattern))) continue;
    found.push(answered(treeFile, entry, repository));
    if (found.length > filesMax)
      throw new HubTrouble(
        "too-many-files",
        `${repository}: more than ${filesMax} files`,
        "choose some with files: in its manifest",
      );
  }
  if (found.length === 0)
    throw new HubTrouble(
      "no-files",
      `${repository}: ${patterns ? `no file matches ${patterns.join(", ")}` : "the repository has no files"}`,
      "correct files: in its manifest",
    );
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

type At = { manifest: SourceManifest; hub: HubAccess; commit: string };

/** A file in git has only the hash of git, so it is read once. */
async function digestOf({ path, size, oid, lfs }: TreeFile, { manifest, hub, commit }: At): Promise<string> {
  if (lfs) return lfs.oid;
  const { type, repository } = manifest;
  const name = `${repository}/${path}`;
  const differs = (cause: string) =>
    new HubTrouble("hub-answer", `${name}: ${cause}`, "try again; does HF_ENDPOINT name a hub?");
  if (size > plainBytesMax) throw differs(`${size} bytes without a SHA-256`);
  const folder = type === "dataset" ? "datasets/" : "";
  const inside = path.split("/").map(encodeURIComponent).join("/");
  const url = `${hub.endpoint}/${folder}${repository}/resolve/${commit}/${inside}`;
  const headers = hub.token === undefined ? {} : { Authorization: `Bearer ${hub.token}` };
  const answer = await hub.fetch(url, { headers }, size + 1);
  const content = Buffer.from(await answer.arrayBuffer());
  const inGit = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
  if (content.length !== size || inGit !== oid) throw differs("the content is not that of the commit");
  return createHash("sha256").update(content).digest("hex");
}

/** What a hub answers is checked like any data from outside. */
function answered<const Schema extends object>(schema: Schema, value: unknown, what: string): TypeOf<Schema> {
  const reading = checkFormat(schema, value);
  if (reading.kind === "ok") return reading.value;
  const help = "does HF_ENDPOINT name a hub? A path that leaves its folder is refused";
  throw new HubTrouble("hub-answer", `${what}: the hub's answer is not usable: ${reading.cause}`, help);
}
