import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { secretSeed } from "./secret-seed.ts";

function stateFolder(t: { after(done: () => void): void }): string {
  const state = mkdtempSync(join(tmpdir(), "secret-seed-"));
  t.after(() => rmSync(state, { recursive: true }));
  return state;
}

test("an action gets one seed in a state folder, and another in another", (t) => {
  const [one, other] = [stateFolder(t), stateFolder(t)];
  assert.match(secretSeed(one, "a"), /^[0-9a-f]{64}$/);
  assert.equal(secretSeed(one, "a"), secretSeed(one, "a"));
  assert.notEqual(secretSeed(one, "a"), secretSeed(one, "b"));
  assert.notEqual(secretSeed(one, "a"), secretSeed(other, "a"));
});

test("the secret has 32 bytes that only its owner can read, and no seed holds them", (t) => {
  const state = stateFolder(t);
  const seed = secretSeed(state, "a");
  assert.deepEqual(readdirSync(state), ["secret"]);
  assert.equal(statSync(join(state, "secret")).mode & 0o777, 0o600);
  const secret = readFileSync(join(state, "secret"));
  assert.equal(secret.length, 32);
  assert.notEqual(secret.toString("hex"), seed);
});

test("a damaged secret is refused, with the way out", (t) => {
  const state = stateFolder(t);
  writeFileSync(join(state, "secret"), "short");
  assert.throws(() => secretSeed(state, "a"), /secret has 5 bytes, expected 32[\s\S]*help: remove it/);
});
