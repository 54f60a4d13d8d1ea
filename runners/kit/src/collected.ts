// Reads the manifest of a collecting stage.
import { dirname, join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Collected, collected as format } from "@mlrb/formats/stage/collected";
import { readJson } from "./json-file.ts";

/** The folder of a source that was downloaded. Throws, with the cause and the way out, if it is not there. */
export function downloadedFolder({ members }: Collected, source: string): string {
  const member = members.find(({ axes }) => axes.source === source);
  const path = member?.artifacts.files?.path;
  if (path !== undefined) return path;
  const cause =
    member === undefined ? "task.yaml does not name it in downloads" : member.cause || member.outcome;
  throw new Error(
    `the source ${source} is not downloaded: ${cause}; run the pipeline without --only, or with --only download too`,
  );
}

/** Reads a manifest and makes the paths of artifacts absolute. */
export function readCollected(manifest: string): Collected {
  const collected = mustFollow(format, readJson(manifest), manifest);
  for (const member of collected.members) {
    for (const artifact of Object.values(member.artifacts))
      if (artifact.path !== undefined) artifact.path = join(dirname(manifest), artifact.path);
  }
  return collected;
}
