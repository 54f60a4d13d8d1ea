// Which device files of GPUs a stage inside walls sees, under root and under an ordinary user. The devices are
// fake: this file runs itself in a namespace whose /dev has copies of /dev/null under the driver's names.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { hostile, type Way, ways } from "../testing/hostile-stage.ts";

const inside = process.env.MLRB_FAKE_GPUS;
const script = fileURLToPath(new URL("../testing/with-fake-gpus.sh", import.meta.url));
const itself = fileURLToPath(import.meta.url);

/** Index 1 has device file 2 where the driver's folder says so, else 1. */
const gpu: Gpu = { index: 1, uuid: "GPU-1", model: "", memoryBytes: 1, driver: "", slice: false };
const own = inside === "root" ? "nvidia2" : "nvidia1";

const sight = `
import json, os
found = {}
for folder, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        if "nvidia" in path or "/dri" in path:
            try:
                os.close(os.open(path, os.O_RDWR))
                found[path[5:]] = "opens"
            except OSError as error:
                found[path[5:]] = error.strerror
try:
    os.mknod("WORKFOLDER/out/nvidia", 0o20666, os.makedev(195, 0))
    found["mknod"] = "made"
except OSError:
    pass
names = {name: os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "MLRB_GPUS")}
open("WORKFOLDER/out/result.json", "w").write(json.dumps({"found": found, "names": names}))
`;

async function seen(t: TestContext, way: Way, gpus: Gpu[]) {
  const { result, work, log } = await hostile(t, way, sight, { gpus });
  assert.equal(result.kind, "succeeded", log);
  return JSON.parse(readFileSync(join(work, "out/result.json"), "utf8")) as {
    found: Record<string, string>;
    names: Record<string, string>;
  };
}

const shared = { nvidiactl: "opens", "nvidia-uvm": "opens", "nvidia-uvm-tools": "opens" };

if (inside !== undefined)
  for (const way of ways) {
    test(`${way}: a stage that holds one of four fake GPUs sees its device file and the shared ones`, async (t) => {
      assert.deepEqual(await seen(t, way, [gpu]), {
        found: { ...shared, [own]: "opens" },
        names: { CUDA_VISIBLE_DEVICES: "GPU-1", MLRB_GPUS: "1" },
      });
    });

    test(`${way}: a stage without GPUs sees no device file of the fake GPUs`, async (t) => {
      assert.deepEqual(await seen(t, way, []), {
        found: {},
        names: { CUDA_VISIBLE_DEVICES: "", MLRB_GPUS: "0" },
      });
    });
  }

if (inside === "root")
  test("a stage that holds a GPU whose device files are unknown does not begin, and its log says why", async (t) => {
    const { result, log } = await hostile(t, "fresh Python", sight, { gpus: [{ ...gpu, uuid: "GPU-9" }] });
    assert.deepEqual(result, { kind: "failed", cause: "machine", detail: log.trim().slice("mlrb: ".length) });
    assert.match(log, /^mlrb: the device files of GPU GPU-9 are unknown: .* use `executor: docker`\n$/);
  });

const user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
const starts: Record<"root" | "user", string[]> = {
  root: ["unshare", "--mount", "--propagation=private"],
  user: [
    ...(process.getuid?.() === 0 ? ["setpriv", ...user] : []),
    ...["unshare", "--user", "--map-root-user", "--mount", "--propagation=private"],
  ],
};

function whyNot(who: "root" | "user"): string | false {
  if (who === "root" && process.getuid?.() !== 0) return "these tests run as an ordinary user";
  const [program, ...args] = [...starts[who], process.execPath, "--check", itself];
  return spawnSync(program!, args).status === 0
    ? false
    : "no namespaces here, or it cannot read this checkout";
}

if (inside === undefined)
  for (const who of ["root", "user"] as const)
    test(`inside walls under ${who}, a stage sees the device files of its own fake GPUs only`, {
      skip: whyNot(who),
    }, () => {
      const folder = mkdtempSync(join(tmpdir(), "walls-gpus-"));
      chmodSync(folder, 0o777);
      try {
        const run = ["sh", script, process.execPath, "--test", "--test-reporter=tap", itself];
        const [program, ...args] = [...starts[who], ...run];
        const { status, stdout, stderr } = spawnSync(program!, args, {
          encoding: "utf8",
          env: { PATH: process.env.PATH ?? "", TMPDIR: folder, HOME: folder, MLRB_FAKE_GPUS: who },
        });
        assert.equal(status, 0, stdout + stderr);
        assert.match(stdout, /# pass [89]\n/);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
