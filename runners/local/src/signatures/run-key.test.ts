import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { signingKeys, noSshKeygen as skip } from "../testing/signing-keys.ts";
import { makeRunKey, type RunKey, RunSignatures } from "./run-key.ts";

function runKey(key: string): RunKey {
  const made = makeRunKey(key);
  assert.ok(!("kind" in made), JSON.stringify(made));
  return made;
}

test("a text signed by a run names the signer of the run's key", { skip }, (t) => {
  const keys = signingKeys(t);
  const signed = runKey(keys.make("alice")).sign("text");
  const found = new RunSignatures(keys.allowing("alice")).verify("text", signed);
  assert.ok(found.kind === "valid" && found.signedBy === "alice", JSON.stringify(found));
});

test("another text, signature, run key or certificate is refused, and so is an unknown signer", {
  skip,
}, (t) => {
  const keys = signingKeys(t);
  const alice = runKey(keys.make("alice")).sign("text");
  const bob = runKey(keys.make("bob")).sign("text");
  const signatures = new RunSignatures(keys.allowing("alice"));
  const codes = [
    ["other text", alice],
    ["text", { ...alice, signature: bob.signature }],
    ["text", { ...alice, signature: "" }],
    ["text", { ...bob, certificate: alice.certificate }],
    ["text", { ...alice, runKey: "no key" }],
    ["text", bob],
  ].map(([text, signed]) => {
    const found = signatures.verify(text as string, signed as typeof alice);
    return found.kind === "refused" ? found.code : found.kind;
  });
  const bad = "bad-signature";
  assert.deepEqual(codes, [bad, bad, bad, bad, bad, "unknown-signer"]);
});

test("a key of another kind signs nothing, though it is certified", { skip }, (t) => {
  const keys = signingKeys(t);
  const signed = runKey(keys.make("alice")).sign("text");
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const rsa = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const found = new RunSignatures(keys.allowing("alice")).verify("text", { ...signed, runKey: rsa });
  assert.equal(found.kind === "refused" && found.code, "bad-signature");
});

test("a run without its key file says how to make one", (t) => {
  const made = makeRunKey(join(signingKeys(t).folder, "none"));
  assert.ok("kind" in made && made.code === "unknown-key", JSON.stringify(made));
});
