// Reports which access a stage was refused, and which line of its pipeline would allow it. A stage that continued
// after a refusal fails too: a scorer that catches the error would otherwise reject a submission without reading
// it.

import { appendFileSync, existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import { type Declarer, type RefusalText, refusalTexts } from "@mlrb/core/ports/permissions";
import { readFormat } from "@mlrb/formats/read-format";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { type Refusal, refusal } from "@mlrb/formats/stage/refusal";
import { firstBytes } from "@mlrb/kit/admission/admission-files";
import { readFrom } from "@mlrb/kit/files/read-from";
import type { Workspace } from "../store/workspace.ts";
import { insideRepository, systemFolders } from "./stage-permissions.ts";

/** `work` is the work folder of the stage; the words go to its log and its cause. */
export function withRefusals(
  result: ExecutionResult,
  work: string,
  { instance, workspace }: { instance: Instance; workspace: Pick<Workspace, "repository" | "state"> },
): ExecutionResult {
  const ended = result.kind === "succeeded" || (result.kind === "failed" && result.cause === "exit-code");
  if (!ended) return result;
  const noted = readRefusals(join(work, "refusals.jsonl"));
  // Node publishes no event for this refusal
  if (result.kind === "failed" && endOf(join(work, "log")).includes("ERR_DLOPEN_DISABLED"))
    noted.push({ kind: "native", resource: "" });
  const listed = new Set(noted.flatMap(({ kind, resource }) => (kind === "list" ? [resource] : [])));
  const refusals = noted.flatMap((refusal) => asRead(refusal, { result, work, workspace, listed }));
  if (refusals.length === 0) return result;
  const inside = (path: string) => (path === outside ? undefined : insideRepository(path, workspace));
  const texts = refusalTexts(refusals, declarer(instance), inside);
  tell(texts.slice(0, shownMax), work);
  if (texts.length > shownMax)
    appendFileSync(join(work, "log"), `mlrb: and ${texts.length - shownMax} more like these\n`);
  // causes reach reports, which must be equal on every machine: paths outside are named in the log only
  const shown = refusals.map((refusal) =>
    isPath(refusal) && inside(refusal.resource) === undefined ? { ...refusal, resource: outside } : refusal,
  );
  const [first] = refusalTexts(shown, declarer(instance), inside);
  const how = result.kind === "failed" ? result.detail : "it went on without what it was refused";
  return { kind: "failed", cause: "exit-code", detail: `${how}: ${first!.what}; ${first!.help}` };
}

/**
 * The undeclared reads of an attempt's script and the lines to write, also to its log. The attempt continues and
 * counts: its work was paid for, and only an edit of that file would go unnoticed.
 */
export function undeclaredReads(
  work: string,
  by: Declarer,
  workspace: Pick<Workspace, "repository" | "state">,
): RefusalText[] {
  const there = readRefusals(join(work, "refusals.jsonl")).filter(
    ({ resource }) => statSync(resource, { throwIfNoEntry: false })?.isFile() === true,
  );
  if (there.length === 0) return [];
  const texts = refusalTexts(there, by, (path) => insideRepository(path, workspace));
  tell(texts, work);
  return texts;
}

function tell(texts: RefusalText[], work: string): void {
  const lines = texts.map(({ what, help }) => `mlrb: undeclared: ${what}\n  help: ${help}\n`);
  appendFileSync(join(work, "log"), lines.join(""));
}

/**
 * Node asks before the access: a missing file cannot have been read. In its search for packages Node asks about
 * folders too and continues without them, as libraries do. Only the error that ended the script shows that the
 * script needed one.
 */
function asRead(
  refusal: Refusal,
  at: {
    result: ExecutionResult;
    work: string;
    workspace: Pick<Workspace, "repository">;
    listed: ReadonlySet<string>;
  },
): Refusal[] {
  const { kind, resource, asked = resource } = refusal;
  const { repository } = at.workspace;
  const succeeded = at.result.kind === "succeeded";
  if (kind === "network" && succeeded) return []; // a script that succeeds without the network is valid
  if (kind !== "read" && kind !== "list") return [refusal];
  const stats = statSync(resolve(repository, resource), { throwIfNoEntry: false });
  if (!stats) return [];
  // a library that looks for installed programs, as zx does at import, and continues without them
  const ofSystem = systemFolders().some((folder) => resource.startsWith(`${folder}/`));
  if (ofSystem && succeeded && !resource.startsWith(`${repository}/`)) return [];
  if (kind === "list" || !stats.isDirectory()) return [refusal];
  if (succeeded || at.listed.has(resource)) return [];
  const endedByIt = endOf(join(at.work, "log")).includes(`resource: '${asked}'`);
  return endedByIt ? [{ ...refusal, kind: "folder" }] : [];
}

const shownMax = 10;
const outside = "a file outside of the repository";

function isPath({ kind }: Refusal): boolean {
  return ["read", "list", "folder", "write"].includes(kind);
}

export function declarer({ stage, action }: Instance): Declarer {
  const { programs } = stage.spec;
  return {
    stage: stage.name,
    ...(stage.place && { place: stage.place }),
    files: action.files,
    ...(typeof programs === "string" && { programs }),
  };
}

function endOf(file: string): string {
  return String(readFrom(file, Math.max(0, statSync(file).size - (1 << 14))));
}

/** Of a stage inside walls, hostile code may have written the file. */
const refusalsBytesMax = 256 << 10;
const refusalsMax = 1000;

/** Lines that a kill tore, or that the script wrote itself, are skipped, as is what an honest guard never writes. */
function readRefusals(file: string): Refusal[] {
  // nothing was refused, or the script runs without a guard; opening a missing file would take as long as five
  // stats
  if (!existsSync(file)) return [];
  const text = new TextDecoder().decode(firstBytes(file, refusalsBytesMax));
  return text.split("\n", refusalsMax).flatMap((line) => {
    const reading = readFormat(refusal, line);
    return reading.kind === "ok" ? [reading.value] : [];
  });
}
