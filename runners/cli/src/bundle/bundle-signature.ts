// The signature of an evidence bundle: FILE.sig beside it, of the SHA-256 of the whole archive.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { type Signature, signDigest, verifyDigest } from "@mlrb/local/signatures/ssh-signature";
import { statePaths } from "@mlrb/local/store/state-folder";

export function signatureFile(path: string): string {
  return `${path}.sig`;
}

export function signBundle(path: string, key: string): Signature {
  return signDigest(hashFile(path), { of: "evidence-bundle", key });
}

type Signed =
  | { kind: "unsigned" | "valid" | "unknown"; words: string }
  | { kind: "refused"; code: string; words: string; help: string };

/** `root`: its state folder names the allowed signers. */
export function bundleSignature(path: string, root: string): Signed {
  const file = signatureFile(path);
  if (!existsSync(file))
    return { kind: "unsigned", words: `unsigned, as there is no ${file}: nothing says who made it` };
  const allowedSigners = join(statePaths(root).state, "allowed_signers");
  const signature = readFileSync(file, "latin1");
  const found = verifyDigest(hashFile(path), signature, { of: "evidence-bundle", allowedSigners });
  if (found.kind === "valid")
    return { kind: "valid", words: `signed by ${found.signedBy} (${found.signingKey})` };
  // a bundle of a stranger can be read; who signed it is then not known
  if (found.code === "unknown-signer") return { kind: "unknown", words: `${found.message}; ${found.help}` };
  return { kind: "refused", code: found.code, words: found.message, help: found.help };
}
