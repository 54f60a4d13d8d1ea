import assert from "node:assert/strict";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { chooseSandbox, type SandboxChoice } from "./choose-sandbox.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";

const missing = await bubblewrapMissing();
const needsBubblewrap = missing === undefined ? {} : { skip: missing };

const request: SandboxRequest = {
  executor: "local",
  network: "none",
  limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
  ...{ reads: [], gpus: [], unsafe: false, token: "choice" },
};

/** On a host where this user may make no control group for memory. */
async function chosen(t: TestContext, asked: Partial<SandboxRequest>, more: Partial<SandboxChoice> = {}) {
  const under = mkdtempSync(join(tmpdir(), "choice-"));
  t.after(() => removeFolder(under));
  const choice: SandboxChoice = {
    ...{ under, agent: "stranger", trusted: false, limitsMemory: async () => false },
    containers: () => Promise.reject(new Error("no engine")),
    ...more,
  };
  const sandbox = await chooseSandbox({ ...request, ...asked }, choice).catch((error: Error) => error);
  if (!(sandbox instanceof Error)) await sandbox.close();
  assert.deepEqual(readdirSync(under), []);
  return sandbox instanceof Error ? sandbox : sandbox.kind;
}

test(
  "where no control group holds memory an untrusted agent is refused, and the message names the fixes",
  needsBubblewrap,
  async (t) => {
    const error = await chosen(t, {});
    assert.ok(error instanceof SandboxTrouble);
    assert.match(
      error.message,
      /"stranger" is not trusted.* no control group.*--executor docker.*--weak-limits/s,
    );
  },
);

test("--weak-limits lets it run in bubblewrap all the same", needsBubblewrap, async (t) => {
  assert.equal(await chosen(t, { weakLimits: true }), "bubblewrap");
});

test("a trusted program needs no control group, and a container has its own", async (t) => {
  assert.equal(await chosen(t, {}, { trusted: true }), "plain");
  assert.equal(await chosen(t, { executor: "docker" }), "docker");
});

test("where the kernel holds memory nothing needs to be allowed", needsBubblewrap, async (t) => {
  assert.equal(await chosen(t, {}, { limitsMemory: async () => true }), "bubblewrap");
});

test(
  "on a node an untrusted agent runs in bubblewrap, or is refused with what to ask for",
  needsBubblewrap,
  async (t) => {
    const slurm = { executor: "slurm" };
    assert.equal(await chosen(t, slurm, { limitsMemory: async () => true }), "bubblewrap");
    assert.equal(await chosen(t, { ...slurm, weakLimits: true }), "bubblewrap");
    const error = await chosen(t, slurm);
    assert.ok(error instanceof SandboxTrouble);
    assert.match(
      error.message,
      /may make no control group for memory in a job; ask the administrator.*weakLimits/s,
    );
    assert.doesNotMatch(error.message, /--executor docker|--weak-limits/);
  },
);
