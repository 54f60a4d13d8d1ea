import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LoopbackCache } from "../../../../tests/support/servers/loopback-cache.ts";
import { remoteChecks } from "./remote-checks.ts";

async function lab(t: TestContext) {
  const server = await new LoopbackCache().start();
  const state = mkdtempSync(join(tmpdir(), "mlrb-state-"));
  t.after(() => {
    server.close();
    rmSync(state, { recursive: true });
  });
  writeFileSync(join(state, "cache_signers"), "");
  const { href } = server.url;
  const check = async (env: NodeJS.ProcessEnv = {}) => {
    const all = await remoteChecks({ env: { MLRB_REMOTE_CACHE: href, ...env }, state });
    return all.map(({ answer, found }) => `${answer}: ${found.replace(/:\d+/, "")}`);
  };
  return { server, state, check };
}

test("a remote cache that answers works, also where it lacks the content that is asked for", async (t) => {
  const at = await lab(t);
  assert.deepEqual(await at.check(), ["works: 127.0.0.1: results are taken"]);
  const key = join(at.state, "cache_signers");
  assert.deepEqual(await at.check({ MLRB_REMOTE_CACHE_KEY: key }), [
    "works: 127.0.0.1: results are taken and sent",
  ]);
  assert.ok(at.server.requests.every(({ method }) => method === "HEAD"));
});

test("a refusal, a missing server, a missing key and a setting that cannot work are notes", async (t) => {
  const at = await lab(t);
  at.server.faults.push({ path: /./, as: 401 });
  assert.deepEqual(await at.check(), ["note: 127.0.0.1: it answered 401 to HEAD"]);
  assert.deepEqual(await at.check({ MLRB_REMOTE_CACHE_KEY: "/none" }), [
    "note: 127.0.0.1 answers, but there is no key /none",
  ]);
  const [bad] = await at.check({ MLRB_REMOTE_CACHE: "ftp://cache" });
  assert.match(bad!, /^note: .*no address/);
  at.server.close();
  const [gone] = await at.check();
  assert.match(gone!, /^note: 127\.0\.0\.1: .*ECONNREFUSED/);
});

test("nothing is checked and nothing asked where no remote cache is set", async (t) => {
  const at = await lab(t);
  assert.deepEqual(await at.check({ MLRB_REMOTE_CACHE: "" }), []);
  assert.deepEqual(at.server.requests, []);
});
