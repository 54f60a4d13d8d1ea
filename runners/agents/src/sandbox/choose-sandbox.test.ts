import assert from "node:assert/strict";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Walls } from "@mlrb/core/ports/sandbox";
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
    podman: { missing: async () => "podman is not installed", open: () => Promise.reject(new Error("none")) },
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

/** As if its programs all succeeded. */
const walls: Walls = {
  ...{ kind: "podman", where: {}, freeze: async () => true, thaw: async () => true },
  exec: async () => ({ kind: "exited", code: 0 }),
  ...{ kill: async () => {}, close: async () => {} },
};
const podman = { missing: async () => undefined, open: async () => walls };

test("on a node podman is chosen where bubblewrap cannot hold the memory", async (t) => {
  const slurm = { executor: "slurm" };
  assert.equal(await chosen(t, slurm, { podman }), "podman");
  assert.equal(
    await chosen(t, { ...slurm, image: "host" }, { podman }),
    "podman",
    "bubblewrap has no images",
  );
});

test("on a node bubblewrap is chosen before podman", needsBubblewrap, async (t) => {
  const slurm = { executor: "slurm" };
  assert.equal(await chosen(t, slurm, { podman, limitsMemory: async () => true }), "bubblewrap");
  assert.equal(await chosen(t, { ...slurm, weakLimits: true }, { podman }), "bubblewrap");
});

test("on a node where nothing isolates the agent each program's reason is named", async (t) => {
  const error = await chosen(t, { executor: "slurm" });
  assert.ok(error instanceof SandboxTrouble);
  assert.match(
    error.message,
    /bubblewrap: .*; podman: podman is not installed; apptainer: apptainer .*ask the administrator/s,
  );
  assert.doesNotMatch(error.message, /--executor docker, set/);
});

test("an installed podman that cannot start a program is not chosen", async (t) => {
  const exec = async () => ({ kind: "lost", detail: "crun: cgroups in hybrid mode" }) as const;
  const open = async () => ({ ...walls, exec });
  const error = await chosen(t, { executor: "slurm" }, { podman: { ...podman, open } });
  assert.match(
    (error as Error).message,
    /podman: podman starts no program here: crun: cgroups in hybrid mode/,
  );
});

test("an agent with an image never runs without it, trusted or not, and none that cannot be had costs a call", async (t) => {
  const asked = { executor: "slurm", image: "lab/agent@sha256:0" };
  assert.equal(await chosen(t, asked, { podman, trusted: true }), "podman");
  assert.equal(await chosen(t, { ...asked, unsafe: true }, { podman }), "podman");
  const prepare = () => Promise.reject(new Error("image: it could not be pulled"));
  const error = await chosen(t, asked, { podman: { ...podman, prepare } });
  assert.ok(error instanceof SandboxTrouble);
  assert.match(error.message, /"stranger": image: it could not be pulled/);
});
