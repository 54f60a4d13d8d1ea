// Hostile programs in the sandbox of a node with Apptainer, of which there is a stub: what its documentation says, done with
// bubblewrap. As an ordinary user, since Apptainer is not used as root.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { firstEngine, nodeEngines } from "@mlrb/agents/sandbox/sandbox-engines";
import { apptainerStub } from "./support/machines/apptainer-stub.ts";
import { sandboxSuite } from "./support/sandboxes/sandbox-suite.ts";

const asRoot = process.getuid?.() === 0;
const missing = await bubblewrapMissing();

if (!asRoot)
  sandboxSuite({
    name: "apptainer (stub)",
    maker: new URL("../runners/agents/src/testing/apptainer-maker.ts", import.meta.url).href,
    skip: missing,
  });

if (!asRoot)
  test("programs of an image by digest run in it, and see none of this machine's files", async (t) => {
    if (missing !== undefined) return t.skip(missing);
    const folder = mkdtempSync(join(tmpdir(), "image-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const image = `lab/agent@sha256:${"1".repeat(64)}`;
    const images = join(folder, "images");
    const noPodman = { missing: async () => "none here", open: () => Promise.reject(new Error("none here")) };
    const found = await firstEngine(nodeEngines(noPodman, { images }), { image, weakLimits: true });
    assert.ok(found.kind === "chosen", found.passed.join("; "));
    assert.equal(found.engine.kind, "apptainer");
    await found.engine.prepare!(image);
    const walls = await found.engine.open({
      ...{
        folder,
        seenAs: "/attempt",
        readOnly: [],
        reads: [],
        network: "none",
        gpus: [],
        image,
        token: "image",
      },
      limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 24, cpus: 1 },
    });
    t.after(() => walls.close());
    let said = "";
    const ended = await walls.exec({
      ...{ argv: ["sh", "-c", "cat /image; echo; ls /etc"], cwd: "/attempt", env: {} },
      onOutput(_, bytes) {
        said += Buffer.from(bytes).toString("utf8");
      },
    });
    assert.deepEqual([ended, said.split("\n")[0]], [{ kind: "exited", code: 0 }, `docker://${image}`]);
    assert.doesNotMatch(said, /shadow|ssh/);
    assert.deepEqual([walls.where.sandbox, walls.where.image], ["apptainer 1.3.4", image]);
  });

const user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];

/** Limits that only root's kernel features hold (docs/sandbox.md). */
const kernelOnly = /no file system can be mounted here|this user may make no control group for memory/;

test("an ordinary user's sandbox passes the suite", {
  skip: asRoot ? (missing ?? false) : "is root's",
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "walls-user-"));
  chmodSync(folder, 0o777);
  const stub = apptainerStub();
  try {
    const self = import.meta.filename;
    const [setpriv, ...rest] = [...user, process.execPath, "--test", "--test-reporter=tap", self];
    const { status, stdout } = spawnSync(setpriv!, rest, {
      encoding: "utf8",
      env: { PATH: `${stub.bin}:${process.env.PATH}`, TMPDIR: folder, HOME: folder },
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /apptainer \(stub\)/);
    const skipped = stdout.split("\n").filter((line) => /# SKIP/.test(line) && !/is root's/.test(line));
    for (const line of skipped) assert.match(line, kernelOnly);
  } finally {
    stub.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
