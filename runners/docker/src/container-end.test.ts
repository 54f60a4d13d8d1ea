// How the end of a container is read, from an engine that the test drives.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { followContainer } from "./container-end.ts";
import type { ContainerEngine } from "./container-engine.ts";
import type { CallOptions, CallResult } from "./engine-call.ts";

const state = { Status: "exited", ExitCode: 137, OOMKilled: false, Error: "", StartedAt: "" };

/** `started`: what the call that starts the container does and returns. */
function podman(started: (options: Partial<CallOptions>) => CallResult) {
  const engine: ContainerEngine = {
    ...{ flavour: "podman", version: "podman 4.3.1", rootless: true, remapped: false },
    ...{ program: "podman", env: {}, holds: { memory: true, processes: true, cpus: true } },
    async call([name], options = {}) {
      if (name === "start") return started(options);
      return { ok: true, stdout: JSON.stringify(state) };
    },
  };
  return engine;
}

const killed: CallResult = { ok: false, code: 137, trouble: { kind: "other", detail: "", line: "" } };
const options = { begin: true, patienceMs: 0 };

test("what podman's helper notes of a lack of memory counts, and its folder is removed", async () => {
  let folder = "";
  const noting = podman(({ cwd }) => {
    folder = cwd!;
    writeFileSync(join(folder, "oom"), "");
    return killed;
  });
  assert.deepEqual(await followContainer(noting, "c", options), {
    kind: "exited",
    state: { ...state, OOMKilled: true },
  });
  assert.ok(folder !== "" && !existsSync(folder));
  const silent = await followContainer(
    podman(() => killed),
    "c",
    options,
  );
  assert.deepEqual(silent, { kind: "exited", state });
});
