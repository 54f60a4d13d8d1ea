import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { noSshKeygen, signingKeys } from "@mlrb/local/testing/signing-keys";
import type { RemoteMode } from "../request/run-invocation.ts";
import { remoteSettings } from "./remote-settings.ts";

const MLRB_REMOTE_CACHE = "https://cache.lab/mlrb/";

function lab(t: TestContext, { signers = true } = {}) {
  const state = mkdtempSync(join(tmpdir(), "mlrb-state-"));
  t.after(() => rmSync(state, { recursive: true }));
  mkdirSync(state, { recursive: true });
  if (signers) writeFileSync(join(state, "cache_signers"), "");
  const read = (env: NodeJS.ProcessEnv, mode?: RemoteMode) => remoteSettings(mode, { env, state });
  return {
    state,
    read,
    text(env: NodeJS.ProcessEnv, mode?: RemoteMode): string {
      const found = read(env, mode);
      assert.ok(found && "code" in found, JSON.stringify(found));
      return renderDiagnostic(found).replaceAll(state, "STATE");
    },
  };
}

test("without an address, and with --remote-cache off, there is no remote cache", (t) => {
  const at = lab(t);
  assert.equal(at.read({}), undefined);
  assert.equal(at.read({ MLRB_REMOTE_CACHE: "" }), undefined);
  assert.equal(at.read({ MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_KEY: "/none" }, "off"), undefined);
});

test("without a key, and with --remote-cache read, results are only taken", (t) => {
  const at = lab(t);
  for (const found of [
    at.read({ MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_TOKEN: "secret" }),
    at.read({ MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_TOKEN: "secret", MLRB_REMOTE_CACHE_KEY: "/none" }, "read"),
  ]) {
    assert.ok(found && !("code" in found));
    assert.equal(found.runKey, undefined);
    assert.deepEqual([found.url.href, found.token], [MLRB_REMOTE_CACHE, "secret"]);
    assert.equal(found.signers, join(at.state, "cache_signers"));
  }
});

test("with a key, results are also sent, also where no signer is trusted", { skip: noSshKeygen }, (t) => {
  const at = lab(t, { signers: false });
  const found = at.read({ MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_KEY: signingKeys(t).make("alice") });
  assert.ok(found && !("code" in found), JSON.stringify(found));
  assert.ok(found.runKey!.sign("text").certificate.includes("SSH SIGNATURE"));
});

test("each setting that cannot work is refused with its way out, and no text shows a secret", (t) => {
  const at = lab(t, { signers: false });
  const key = "`ssh-keygen -t ed25519 -f KEY` makes one";
  const bad: [env: NodeJS.ProcessEnv, mode: RemoteMode | undefined, text: string][] = [
    [
      {},
      "read",
      `no-remote-cache: --remote-cache read names no server
  help: set MLRB_REMOTE_CACHE to its address, e.g. https://cache.lab/mlrb`,
    ],
    [
      { MLRB_REMOTE_CACHE: "cache.lab:80/secret" },
      undefined,
      `bad-remote-cache: MLRB_REMOTE_CACHE is no address of a server
  help: write one such as https://cache.lab/mlrb, without a query`,
    ],
    [
      { MLRB_REMOTE_CACHE: "https://me:secret@cache.lab" },
      undefined,
      `bad-remote-cache: MLRB_REMOTE_CACHE holds a user or a password, which logs would show
  help: set MLRB_REMOTE_CACHE_TOKEN instead: a bearer token, or "Basic " and base64 of user:password`,
    ],
    [
      { MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_TOKEN: "secret\n" },
      undefined,
      `bad-remote-token: MLRB_REMOTE_CACHE_TOKEN has characters that no header may have
  help: set it to the token alone, without a line break`,
    ],
    [
      { MLRB_REMOTE_CACHE },
      "read-write",
      `no-signing-key: --remote-cache read-write needs a key that signs the results
  help: set MLRB_REMOTE_CACHE_KEY to an SSH key; ${key}`,
    ],
    [
      { MLRB_REMOTE_CACHE },
      undefined,
      `no-cache-signers: no result can be taken: there is no STATE/cache_signers
  help: write the file, a line \`NAME namespaces="mlrb" PUBLIC-KEY\` for each signer whom you trust, or set MLRB_REMOTE_CACHE_SIGNERS`,
    ],
    [
      { MLRB_REMOTE_CACHE, MLRB_REMOTE_CACHE_KEY: "/none" },
      undefined,
      `unknown-key: there is no key /none
  help: ${key}; give KEY, or KEY.pub for a key in the ssh agent`,
    ],
  ];
  for (const [env, mode, text] of bad) {
    assert.equal(at.text(env, mode), text);
    assert.doesNotMatch(at.text(env, mode), /secret/);
  }
});
