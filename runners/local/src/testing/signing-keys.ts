// SSH keys for tests, and files of allowed signers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signatureNamespace } from "../signatures/ssh-signature.ts";

const isMissing = spawnSync("ssh-keygen", ["-?"]).error !== undefined;

/** For the option `skip` of a test. */
export const noSshKeygen = isMissing ? "ssh-keygen is not installed" : false;

/** `t`: a test, or the whole file. */
export function signingKeys(t: { after(fn: () => void): void }) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-keys-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const make = (name: string): string => {
    const key = join(folder, name);
    const made = spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key]);
    assert.equal(made.status, 0, String(made.stderr));
    return key;
  };
  return {
    folder,
    make,
    /** A file that allows these keys; a key's name is its signer. */
    allowing(...names: string[]): string {
      const file = join(folder, `signers-${names.join("-")}`);
      const lines = names.map(
        (name) =>
          `${name} namespaces="${signatureNamespace}" ${readFileSync(join(folder, `${name}.pub`), "utf8")}`,
      );
      writeFileSync(file, lines.join(""));
      return file;
    },
  };
}
