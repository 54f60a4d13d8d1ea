// Opens an evidence bundle: nothing of it is used before each byte has its digest.
import { join } from "node:path";
import { verifyDigest } from "@mlrb/local/signatures/ssh-signature";
import { statePaths } from "@mlrb/local/store/state-folder";
import { type ArchiveBytes, type Difference, type Verified, verifyArchive } from "./verify-archive.ts";
import { openArchive } from "./write-archive.ts";

export type WholeBundle = Verified & { kind: "read" };

export type OpenBundle = {
  kind: "open";
  archive: ArchiveBytes;
  found: WholeBundle;
  signed: Signed;
  /** A file as text; throws if the bundle has no such file. */
  textOf: (path: string) => string;
  close: () => void;
};

type Signed =
  | { kind: "unsigned" | "valid" | "unknown"; words: string }
  | { kind: "refused"; code: string; words: string; help: string };

/** `root`: its state folder names the allowed signers. A changed bundle is closed again. */
export function openBundle(path: string, root: string): OpenBundle | { kind: "changed"; found: Verified } {
  const archive = openArchive(path);
  try {
    const found = verifyArchive(archive);
    if (found.kind === "read" && found.differences.length === 0) {
      const opened = { archive, found, signed: signatureOf(found, root), textOf: textIn(archive, found) };
      return { kind: "open", ...opened, close: archive.close };
    }
    archive.close();
    return { kind: "changed", found };
  } catch (error) {
    archive.close();
    throw error;
  }
}

const shownMax = 20;

/** The changed places, one a line; the first ones only. */
export function changedLines({ differences }: Verified): string[] {
  const more = differences.length - shownMax;
  return [
    ...differences.slice(0, shownMax).map(differenceWords),
    ...(more > 0 ? [`changed: ${more} more places`] : []),
  ];
}

export function changedProblem(path: string, found: Verified): { problem: string; help: string } {
  const what =
    found.kind === "unreadable"
      ? `${found.cause}; the other files were not checked`
      : "it was changed after it was written, or damaged on its way";
  return {
    problem: `changed-bundle: ${path}: ${what}`,
    help: "get the bundle again from its author",
  };
}

function differenceWords({ file, where, from, to }: Difference): string {
  return `changed: ${file}, ${where} (archive from byte ${from} to ${to - 1})`;
}

function signatureOf({ digest, signature }: WholeBundle, root: string): Signed {
  if (signature === undefined) return { kind: "unsigned", words: "unsigned: nothing says who made it" };
  const allowedSigners = join(statePaths(root).state, "allowed_signers");
  const found = verifyDigest(digest, signature, { of: "evidence-bundle", allowedSigners });
  if (found.kind === "valid")
    return { kind: "valid", words: `signed by ${found.signedBy} (${found.signingKey})` };
  // a bundle of a stranger can be read; who signed it is then not known
  if (found.code === "unknown-signer") return { kind: "unknown", words: `${found.message}; ${found.help}` };
  return { kind: "refused", code: found.code, words: found.message, help: found.help };
}

function textIn(archive: ArchiveBytes, { entries }: WholeBundle): (path: string) => string {
  const files = new Map(entries.flatMap((entry) => (entry.file ? [[entry.name, entry] as const] : [])));
  return (path) => {
    const entry = files.get(path);
    if (!entry) throw new Error(`the bundle has no ${path}`);
    return archive.read(entry.contentAt, entry.bytes).toString("utf8");
  };
}
