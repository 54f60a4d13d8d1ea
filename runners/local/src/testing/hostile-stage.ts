// Runs a program as a stage that opens what untrusted code made, in each of the three ways to start one.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { ExecutionRequest, StageWalls } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { localExecutor } from "../process/local-executor.ts";

const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();
const prefix = dirname(dirname(realpathSync(python)));

export type Way = "forked" | "fresh Python" | "fresh Node";
export const ways: Way[] = ["forked", "fresh Python", "fresh Node"];

export type HostileOptions = {
  port?: number;
  required?: boolean;
  gpus?: Gpu[];
  /** The stage's PATH. */
  path?: string;
  /** Paths that the stage declares, besides its own. */
  reads?: string[];
};

/** Runs a hostile program; for Node, its Python text is run by a child of the Node program. */
export async function hostile(
  t: TestContext,
  way: Way,
  script: string,
  { port = 1, required = true, gpus = [], path = process.env.PATH!, reads = [] }: HostileOptions = {},
) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-hostile-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const work = join(root, ".mlrb/work/1");
  for (const name of ["in", "out", "tmp"]) mkdirSync(join(work, name), { recursive: true });
  writeFileSync(join(root, ".mlrb/secret"), "sk-secret");
  writeFileSync(join(root, ".env"), "sk-secret");
  writeFileSync(join(root, "preload.py"), "import json, socket\n");
  writeFileSync(join(work, "in/submission"), "weights", { mode: 0o600 });
  const token = `mlrb:${root}:`;
  const program = join(root, "stage.py");
  writeFileSync(program, script.replaceAll("WORKFOLDER", work));
  const node = join(root, "stage.ts");
  const child = `require("node:child_process").spawnSync(${JSON.stringify(python)}, [${JSON.stringify(program)}], { stdio: "inherit" })`;
  writeFileSync(node, `const { status, signal } = ${child}; if (status !== 0) process.exit(status ?? 99);\n`);
  const executor = localExecutor(root);
  t.after(() => executor.close?.());
  const walls: StageWalls = {
    ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
    required,
    reads: [work, program, node, join(root, "preload.py"), dirname(process.execPath), prefix, ...reads],
    writes: [join(work, "out"), join(work, "tmp")],
    limits: { memoryBytes: 2 ** 29, processes: 64, fileBytes: 2 ** 24 },
  };
  const log = join(work, "log");
  const request: ExecutionRequest = {
    ...{ id: "one", key: "k", token, root, work, log, walls, network: "none" },
    run:
      way === "fresh Node"
        ? { kind: "command", command: [process.execPath, node] }
        : { kind: "python", file: "stage.py" },
    env: {
      PATH: path,
      HOME: join(work, "tmp"),
      TMPDIR: join(work, "tmp"),
      PYTHONHASHSEED: "0",
      WORK: work,
      ROOT: root,
      PORT: String(port),
      MLRB_STAGE: "x",
    },
    ...{
      inputs: {},
      outputs: {},
      limits: { timeMs: 40_000 },
      reads: [],
      writes: [],
      cpus: 1,
      gpus,
      python,
    },
    ...(way === "forked" && { preload: join(root, "preload.py") }),
  };
  const result = await executor.start(request).ended;
  return { result, root, work, log: readFileSync(log, "utf8"), request, token };
}
