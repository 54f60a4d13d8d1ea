import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Protocol } from "@mlrb/formats/report/protocol";
import { rememberedProtocols, rememberFreeze } from "./earlier-protocols.ts";
import { digestOf } from "./protocol-file.ts";

const path = "protocols/small/smoke.json";

function folder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-protocols-"));
  t.after(() => rmSync(root, { recursive: true }));
  return { root, attempts: root };
}

function protocolOf(frozenAt: string) {
  const protocol: Protocol = {
    ...{ formatVersion: 1, pipeline: "small", profile: "smoke", selection: "", frozenAt, commit: null },
    ...{ arms: [], tasks: [], analysis: [], definitions: [], before: [], replaced: [] },
  };
  return { ...protocol, digest: digestOf(protocol) };
}

const [first, second] = ["2026-05-01T00:00:00.000Z", "2026-05-02T00:00:00.000Z"].map(protocolOf);

test("a state folder remembers each protocol of a path, and Git is not needed", (t) => {
  const state = folder(t);
  assert.deepEqual(rememberedProtocols(state, path, undefined), { earlier: [], committed: null });
  rememberFreeze(state, path, first!);
  rememberFreeze(state, path, second!);
  rememberFreeze(state, "protocols/other.json", protocolOf("2026-05-03T00:00:00.000Z"));
  const { digest, frozenAt } = first!;
  assert.deepEqual(rememberedProtocols(state, path, second!.digest), {
    ...{ earlier: [{ digest, frozenAt, seen: "this state folder" }], committed: null },
  });
});

test("Git remembers a protocol that was committed over, and dates the present one by its first commit", (t) => {
  const state = folder(t);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      ...{ cwd: state.root, encoding: "utf8" },
      env: { ...process.env, GIT_COMMITTER_DATE: "2026-05-04T12:00:00+02:00" },
    }).trim();
  git("init", "-q");
  mkdirSync(join(state.root, dirname(path)), { recursive: true });
  const commits = [first!, second!].map((one) => {
    writeFileSync(join(state.root, path), JSON.stringify(one));
    git("add", "-A");
    git("commit", "-qm", "x");
    return git("rev-parse", "HEAD");
  });
  const committedAt = "2026-05-04T10:00:00.000Z";
  const { digest, frozenAt } = first!;
  assert.deepEqual(rememberedProtocols(state, path, second!.digest), {
    committed: { commit: commits[1], committedAt },
    earlier: [{ digest, frozenAt, seen: `commit ${commits[0]!.slice(0, 10)} of ${committedAt}` }],
  });
});
