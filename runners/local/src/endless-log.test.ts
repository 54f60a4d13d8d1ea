// Stages that print without end, started by the local executor. Supervisors of attempts use the same executor.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { localExecutor } from "./process/local-executor.ts";

const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();

/** Continues only once its log takes less disk space than the script wrote. */
const script = `
import os, sys, time
print("the first words", flush=True)
for _ in range(128):
    os.write(1, (b"x" * 1023 + b"\\n") * 1024)
while os.fstat(1).st_blocks * 512 > 100 << 20:
    time.sleep(0.02)
with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
    print("forked" if b"fork_server" in file.read() else "fresh")
print("the last words")
sys.exit(3)
`;

for (const how of ["fresh", "forked"])
  test(`the log of a ${how} stage that never stops printing stays within its cap while the stage prints, and ends with its last words`, {
    skip: how === "forked" && process.platform !== "linux" ? "servers are forked on Linux only" : false,
  }, async (t) => {
    const root = mkdtempSync(join(tmpdir(), "mlrb-endless-"));
    const executor = localExecutor(root);
    t.after(() => {
      executor.close!();
      rmSync(root, { recursive: true, force: true });
    });
    const preload = join(root, "preload.py");
    writeFileSync(preload, "import json\n");
    writeFileSync(join(root, "endless.py"), script);
    const log = join(root, "log");
    mkdirSync(join(root, "work/tmp"), { recursive: true });
    const { ended } = executor.start({
      ...{ id: "endless", key: "endless", token: `${process.pid}-${root}:endless:`, root, python, log },
      ...{ reads: [], writes: [], inputs: {}, outputs: {}, cpus: 1, gpus: [] },
      run: { kind: "python", file: "endless.py" },
      work: join(root, "work"),
      env: { PATH: process.env.PATH ?? "", HOME: join(root, "work/tmp"), MLRB_STAGE: "none" },
      limits: { timeMs: 60_000 },
      network: "none",
      ...(how === "forked" && { preload }),
    });
    const result = await ended;
    const text = readFileSync(log, "utf8");
    assert.ok(result.kind === "failed" && result.cause === "exit-code", JSON.stringify(result));
    assert.match(text.slice(0, 1000), /the first words\nx/);
    assert.ok(text.endsWith(`\n${how}\nthe last words\n`), text.slice(-1000));
  });
