// Lays out the files of an evidence bundle in a folder: what the report was made from, what its page shows, and
// the locks. Copies no weights and no data. Keys are replaced in every text, ids of private rows by their digest.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { sourceLockFile } from "@mlrb/core/spec/source-lock";
import { mustFollow } from "@mlrb/formats/read-format";
import type { EvidenceBundle, Redaction } from "@mlrb/formats/report/evidence-bundle";
import { type Collected, collected } from "@mlrb/formats/stage/collected";
import { canonicalJson } from "@mlrb/kit/json-file";
import { hashFile } from "@mlrb/local/digests/hash-file";
import type { Workspace } from "@mlrb/local/store/workspace";
import { type Environment, textCleaner } from "../diagnose/clean-text.ts";
import { journalFiles } from "../diagnose/diagnose-command.ts";
import { type NodePlace, nodeOf } from "../show/trace-nodes.ts";
import { isBundlePath, sha256Of } from "./bag.ts";
import { bundleFile, manifestFile, paramsFile, reportScript } from "./rebuild-results.ts";
import { withoutRowIds, withoutStateFolders } from "./redact-rows.ts";

export type Gathering = {
  plan: Plan;
  workspace: Workspace;
  secrets: Pick<Environment, "variables" | "secrets">;
  /** Removes the secrets. */
  clean: (text: string) => string;
  /** The folder of the bundle's files. */
  to: string;
  /** What was replaced, by the file's path. */
  redactions: Map<string, Omit<Redaction, "path">>;
};

/** The report's stored result. `files`: digests of its files by path. */
export type StoredReport = { manifest: Collected; params: object; files: Map<string, string> };

/** The stored report of a plan, as published in `folder`; a text says why there is none. */
export function storedReport(place: NodePlace, folder: string): StoredReport | string {
  const { plan, workspace } = place;
  const instance = plan.instances.find(isReport);
  if (!instance) return `no stage of ${plan.pipeline} makes its results with ${reportScript}`;
  const node = nodeOf(instance, place);
  if (typeof node === "string") return `${instance.id}: ${node}`;
  const { inputs, params } = node.parts;
  const { digest } = node.outputs.report!;
  try {
    const manifest = mustFollow(
      collected,
      JSON.parse(workspace.store.textOf(inputs.manifest!)),
      manifestFile,
    );
    const files = workspace.store.filesOf(digest);
    // after an edit no action is reused, and the last success may be that of another --set
    const other = files.find((file) => !isPublished(join(folder, file.path), file.digest));
    if (other) return `${join(folder, other.path)} is not the file that ${instance.id} made last`;
    return { manifest, params, files: new Map(files.map((file) => [file.path, file.digest])) };
  } catch (error) {
    return `what ${instance.id} was made from cannot be read (${(error as Error).message})`;
  }
}

function isPublished(path: string, digest: string): boolean {
  return existsSync(path) && hashFile(path) === digest;
}

function isReport({ stage, action: { run } }: Instance): boolean {
  return stage.publishes && run.kind === "script" && run.file === reportScript;
}

/** The manifest, its files, and the parameters. Throws if a content is gone. */
export function gatherMembers({ manifest, params }: StoredReport, gathering: Gathering): void {
  const { workspace, to } = gathering;
  for (const { role, artifacts } of manifest.members)
    for (const [name, { path, kind, digest }] of Object.entries(artifacts)) {
      // the report reads no folder
      if (path === undefined || kind === "dir") continue;
      if (!isBundlePath(path)) throw new Error(`${path} is no name of a bundled file`);
      mkdirSync(dirname(join(to, path)), { recursive: true });
      workspace.store.restore({ kind, digest }, join(to, path));
      const hasRows = name === "samples" && (role === "score" || role === "checkpoint-score");
      redactFile(path, gathering, { hasRows });
    }
  writeText(manifestFile, `${canonicalJson(manifest, 2)}\n`, gathering);
  writeText(paramsFile, `${canonicalJson(params, 2)}\n`, gathering);
}

/** Journals of the newest runs, and the locks of environments and sources. */
export function gatherRuns(gathering: Gathering): void {
  const { plan, workspace, secrets } = gathering;
  const { state, root } = workspace.state;
  const folders = [
    [state, "STATE"],
    [root, "ROOT"],
    [workspace.repository, "REPOSITORY"],
  ] as const;
  // hosts stay: the page names them too
  const clean = textCleaner({ ...secrets, folders, host: "", user: "" });
  for (const { name, text } of journalFiles({ plan, state: workspace.state, clean }))
    writeText(name, withoutStateFolders(text), gathering);
  const environments = plan.instances.flatMap(({ stage, action }) =>
    stage.name === environmentStage ? [String(action.params.lock)] : [],
  );
  for (const lock of [...new Set(environments), sourceLockFile].sort()) {
    const from = join(workspace.repository, lock);
    const path = `locks/${lock.replaceAll("/", "+")}`;
    if (existsSync(from) && isBundlePath(path)) writeText(path, readFileSync(from, "utf8"), gathering);
  }
}

/** bundle.json: what the bundle is of, and what was replaced in the files that are there. */
export function gatherAbout(gathering: Gathering): EvidenceBundle {
  const { pipeline, profile, selection } = gathering.plan;
  const redacted = [...gathering.redactions].map(([path, one]) => ({ path, ...one }));
  redacted.sort((a, b) => (a.path < b.path ? -1 : 1));
  const about: EvidenceBundle = { formatVersion: 1, pipeline, profile, selection, redacted };
  writeText(bundleFile, `${canonicalJson(about, 1)}\n`, gathering);
  return about;
}

/** Writes a text without keys. */
export function writeText(path: string, text: string, { to, clean, redactions }: Gathering): void {
  const cleaned = clean(text);
  if (cleaned !== text) redactions.set(path, { what: "keys", original: sha256Of(text) });
  mkdirSync(dirname(join(to, path)), { recursive: true });
  writeFileSync(join(to, path), cleaned);
}

/** Replaces keys, and with `hasRows` the ids of rows, in a file of the bundle. */
function redactFile(
  path: string,
  { to, clean, redactions }: Gathering,
  { hasRows }: { hasRows: boolean },
): void {
  const file = join(to, path);
  const original = hashFile(file);
  const bytes = readFileSync(file);
  // bytes that are no text stay as they are, except for keys in ASCII
  const coding = bytes.equals(Buffer.from(bytes.toString("utf8"))) ? "utf8" : "latin1";
  const text = bytes.toString(coding);
  const rows = hasRows ? withoutRowIds(text) : text;
  const cleaned = clean(rows);
  if (cleaned === text) return;
  const what = cleaned === rows ? "row-ids" : rows === text ? "keys" : "keys-and-row-ids";
  redactions.set(path, { what, original });
  rmSync(file); // its content may be read-only
  writeFileSync(file, Buffer.from(cleaned, coding));
}
