// The digest of a repository's files, by which a node knows that its clone is the runner's: tracked files, and new ones
// that git does not ignore. Installed packages are those of the lock file, which is among them.
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

/** Hexadecimal SHA-256. Throws where git cannot list the files. */
export async function repositoryDigest(root: string): Promise<string> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { failed, stdout, stderr, shortMessage } = await execa("git", args, { cwd: root, reject: false });
  if (failed) throw new Error(`the files of ${root} cannot be listed: ${stderr.trim() || shortMessage}`);
  const hash = createHash("sha256");
  for (const path of [...new Set(stdout.split("\0").filter(Boolean))].sort())
    hash.update(`${path}\0${contentOf(join(root, path))}\n`);
  return hash.digest("hex");
}

function contentOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "removed";
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (!stats.isFile()) return "other";
  const mode = stats.mode & 0o111 ? "program" : "file";
  return `${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
}
