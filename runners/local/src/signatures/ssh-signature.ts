// Signs digests with SSH keys and checks signatures, by `ssh-keygen -Y`. A signature is over the kind of thing and
// its digest, so that a signature of one thing is never valid for another.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The namespace of all signatures of this project: they are no signatures of mail or of git commits, and vice versa. */
export const signatureNamespace = "mlrb";

/** What a digest is the digest of. `run-key`: the public key of one run (see run-key). */
export type Signed = "attempts-archive" | "evidence-bundle" | "run-key";

export type Problem = { kind: "refused"; code: string; message: string; help: string };

export type Signature = { kind: "signed"; text: string } | Problem;

/** `signedBy`: as the list of allowed signers names the key. `signingKey`: the key's fingerprint. */
export type Verification = { kind: "valid"; signedBy: string; signingKey: string } | Problem;

const timeoutMs = 120_000; // for a passphrase, which ssh-keygen asks for on the terminal

/** `key`: a private key, or a public key whose private key is in the ssh agent. */
export function signDigest(digest: string, { of, key }: { of: Signed; key: string }): Signature {
  if (!existsSync(key))
    return refused(
      "unknown-key",
      `there is no key ${key}`,
      "`ssh-keygen -t ed25519 -f KEY` makes one; give KEY, or KEY.pub for a key in the ssh agent",
    );
  const made = sshKeygen(["sign", "-f", key, "-n", signatureNamespace], messageOf(digest, of));
  if ("kind" in made) return made;
  if (made.status === 0) return { kind: "signed", text: made.stdout };
  return refused(
    "not-signed",
    `ssh-keygen cannot sign with ${key}: ${made.stderr}`,
    "check that the file is an SSH key that you may read, and its passphrase",
  );
}

/** `allowedSigners`: a file in the format of ALLOWED SIGNERS in ssh-keygen(1). */
export function verifyDigest(
  digest: string,
  signature: string,
  { of, allowedSigners }: { of: Signed; allowedSigners: string },
): Verification {
  using folder = mkdtempDisposableSync(join(tmpdir(), "mlrb-signature-"));
  const file = join(folder.path, "signature");
  writeFileSync(file, signature);
  return verifyFile(messageOf(digest, of), file, allowedSigners);
}

function verifyFile(message: string, file: string, allowedSigners: string): Verification {
  const own = ["-n", signatureNamespace, "-s", file];
  const checked = sshKeygen(["check-novalidate", ...own], message);
  if ("kind" in checked) return checked;
  const signingKey = /\bSHA256:[A-Za-z0-9+/]+/.exec(checked.stdout)?.[0];
  if (checked.status !== 0 || signingKey === undefined)
    return refused(
      "bad-signature",
      `the signature does not belong to this content: ${checked.stderr || checked.stdout}`,
      "the content was changed after it was signed, or damaged on its way: get it again from its signer",
    );
  const unknown = refused(
    "unknown-signer",
    `the signature is by the key ${signingKey}, which ${allowedSigners} ${existsSync(allowedSigners) ? "does not allow" : "would have to allow; there is no such file"}`,
    `if you trust this key, add the line \`NAME namespaces="${signatureNamespace}" PUBLIC-KEY\` with the signer's .pub file to ${allowedSigners}`,
  );
  if (!existsSync(allowedSigners)) return unknown;
  const found = sshKeygen(["find-principals", "-f", allowedSigners, "-s", file], "");
  if ("kind" in found) return found;
  if (found.status !== 0) return unknown;
  let why = "";
  for (const signedBy of found.stdout.split(/[\n,]/).filter((name) => name !== "")) {
    const verified = sshKeygen(["verify", ...own, "-f", allowedSigners, "-I", signedBy], message);
    if ("kind" in verified) return verified;
    if (verified.status === 0) return { kind: "valid", signedBy, signingKey };
    why = verified.stderr || verified.stdout;
  }
  return refused(
    "unknown-signer",
    `${allowedSigners} lists the key ${signingKey} and does not allow this signature: ${why}`,
    `check namespaces (${signatureNamespace}), valid-after and valid-before of its line`,
  );
}

function messageOf(digest: string, of: Signed): string {
  return `mlrb ${of} sha256:${digest}\n`;
}

function sshKeygen(
  [action, ...options]: [string, ...string[]],
  input: string,
): { status: number | null; stdout: string; stderr: string } | Problem {
  const { error, status, stdout, stderr } = spawnSync("ssh-keygen", ["-Y", action, ...options], {
    ...{ input, encoding: "utf8", timeout: timeoutMs },
    env: { ...process.env, LC_ALL: "C" },
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT")
    return refused(
      "no-ssh-keygen",
      "signatures need the program ssh-keygen, which is not installed",
      "install openssh-client (Debian, Ubuntu) or openssh-clients (Fedora), version 8.2 or newer",
    );
  // it may end without reading its input, e.g. at a signature that is none
  if (error && status === null)
    return refused("no-ssh-keygen", `ssh-keygen failed: ${error.message}`, "run the command again");
  return { status, stdout: stdout.trim() && `${stdout.trim()}\n`, stderr: stderr.trim() };
}

export function refused(code: string, message: string, help: string): Problem {
  return { kind: "refused", code, message: message.replace(/\s+/g, " ").trim(), help };
}
