import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { signatureNamespace, signDigest, verifyDigest } from "./ssh-signature.ts";

const isMissing = spawnSync("ssh-keygen", ["-?"]).error !== undefined;
const skip = isMissing ? "ssh-keygen is not installed" : false;
const digest = "a".repeat(64);
const of = "attempts-archive" as const;

function keys(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const allowedSigners = join(folder, "allowed_signers");
  return {
    folder,
    allowedSigners,
    make(name: string, passphrase = ""): string {
      const key = join(folder, name);
      const made = spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", key]);
      assert.equal(made.status, 0, String(made.stderr));
      return key;
    },
    allow: (key: string, name: string, options = "") =>
      writeFileSync(allowedSigners, `${name} ${options} ${readFileSync(`${key}.pub`, "utf8")}`, {
        flag: "a",
      }),
    verify: (signature: string, of_digest = digest) =>
      verifyDigest(of_digest, signature, { of, allowedSigners }),
  };
}

function signed(key: string): string {
  const made = signDigest(digest, { of, key });
  assert.ok(made.kind === "signed", JSON.stringify(made));
  return made.text;
}

test("a signature by an allowed key names its signer and the key", { skip }, (t) => {
  const at = keys(t);
  const key = at.make("alice");
  at.allow(at.make("bob"), "bob@lab");
  at.allow(key, "alice@lab", `namespaces="${signatureNamespace}"`);
  const found = at.verify(signed(key));
  assert.ok(found.kind === "valid", JSON.stringify(found));
  assert.equal(found.signedBy, "alice@lab");
  const shown = spawnSync("ssh-keygen", ["-lf", `${key}.pub`], { encoding: "utf8" }).stdout;
  assert.ok(shown.includes(found.signingKey), shown);
});

test("a signature of another digest, a changed one and a text that is none are refused", { skip }, (t) => {
  const at = keys(t);
  const key = at.make("alice");
  at.allow(key, "alice@lab");
  const text = signed(key);
  const middle = Math.floor(text.length / 2);
  const changed = `${text.slice(0, middle)}${text[middle] === "A" ? "B" : "A"}${text.slice(middle + 1)}`;
  for (const found of [at.verify(text, "b".repeat(64)), at.verify(changed), at.verify("none"), at.verify("")])
    assert.ok(found.kind === "refused" && found.code === "bad-signature", JSON.stringify(found));
});

test("a valid signature in another namespace is refused: it was made for something else", { skip }, (t) => {
  const at = keys(t);
  const key = at.make("alice");
  at.allow(key, "alice@lab");
  const message = `mlrb ${of} sha256:${digest}\n`;
  const other = spawnSync("ssh-keygen", ["-Y", "sign", "-n", "git", "-f", key], { input: message });
  const found = at.verify(String(other.stdout));
  assert.ok(found.kind === "refused" && found.code === "bad-signature", JSON.stringify(found));
});

test("an unknown key is refused with its fingerprint and the line to add, with and without a list", {
  skip,
}, (t) => {
  const at = keys(t);
  const text = signed(at.make("mallory"));
  for (const list of ["without", "with"]) {
    if (list === "with") at.allow(at.make("alice"), "alice@lab");
    const found = at.verify(text);
    assert.ok(found.kind === "refused" && found.code === "unknown-signer", JSON.stringify(found));
    assert.match(found.message, /by the key SHA256:\S+, which .*allowed_signers /);
    assert.match(found.help, /NAME namespaces="mlrb" PUBLIC-KEY/);
  }
});

test("a listed key that has expired, or is for another namespace, is refused with the cause", {
  skip,
}, (t) => {
  for (const options of ['valid-before="20200101"', 'namespaces="git"']) {
    const at = keys(t);
    const key = at.make("alice");
    at.allow(key, "alice@lab", options);
    const found = at.verify(signed(key));
    assert.ok(found.kind === "refused" && found.code === "unknown-signer", JSON.stringify(found));
  }
});

test("a missing key and a file that is no key are refused with a way out", { skip }, (t) => {
  const at = keys(t);
  const missing = signDigest(digest, { of, key: join(at.folder, "none") });
  assert.ok(missing.kind === "refused" && missing.code === "unknown-key");
  assert.match(missing.help, /ssh-keygen -t ed25519/);
  writeFileSync(join(at.folder, "text"), "no key", { mode: 0o600 });
  const wrong = signDigest(digest, { of, key: join(at.folder, "text") });
  assert.ok(wrong.kind === "refused" && wrong.code === "not-signed", JSON.stringify(wrong));
});

test("without ssh-keygen both refuse and name the package", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "no-programs-"));
  const path = process.env.PATH;
  t.after(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "key"), "");
  process.env.PATH = join(folder, "bin");
  for (const found of [
    signDigest(digest, { of, key: join(folder, "key") }),
    verifyDigest(digest, "any", { of, allowedSigners: join(folder, "none") }),
  ]) {
    assert.ok(found.kind === "refused" && found.code === "no-ssh-keygen", JSON.stringify(found));
    assert.match(found.help, /openssh-client/);
  }
});
