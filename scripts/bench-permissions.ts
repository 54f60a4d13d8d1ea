// What it costs a stage to be held to what it declares: a small script with and without, in turn.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodePermissionFlags, type Permissions } from "@mlrb/core/ports/permissions";
import { findPython } from "@mlrb/local/process/find-python";
import { median, run, type TellRow } from "./bench-tools.ts";

const times = 41;
const allowedSeconds = 0.01;
const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = (name: string) => join(repository, "runners/local/src", name);

export function benchPermissions({ work, row }: { work: string; row: TellRow }): void {
  const folder = join(work, "permissions");
  mkdirSync(folder);
  const kit = join(repository, "runners/kit/src");
  const permissions: Permissions = {
    // as many files as the closure of a large step has
    reads: [
      ...readdirSync(kit).map((name) => join(kit, name)),
      join(repository, "runners/kit/package.json"),
      folder,
    ],
    writes: [folder],
    lists: [],
    network: false,
    programs: false,
    root: repository,
    guard: source("stage/stage-guard.ts"),
    refusals: join(folder, "refusals.jsonl"),
  };
  const script = join(folder, "script.ts");
  writeFileSync(
    script,
    `import { canonicalJson } from ${JSON.stringify(join(kit, "json-file.ts"))};\ncanonicalJson({});\n`,
  );
  // as stages have it: what was compiled for one is there for the next
  const cached = [`NODE_COMPILE_CACHE=${join(folder, "compiled")}`, process.execPath];
  compare("TypeScript", row, {
    without: () => run("env", [...cached, script]),
    held: () => run("env", [...cached, ...nodePermissionFlags(permissions), script]),
  });
  const python = findPython(folder)?.path;
  if (python === undefined) {
    console.log("no row for Python: there is none");
    return;
  }
  const guard = source("process/python-guard");
  const file = join(folder, "permissions.json");
  const plain = join(folder, "script.py");
  writeFileSync(
    file,
    JSON.stringify({ ...permissions, reads: [...permissions.reads, "/usr", guard], guard }),
  );
  writeFileSync(plain, "import json, pathlib\n"); // as any stage script does by way of kit
  const env = (more: string[]) => ["-u", "PYTHONPATH", ...more, python, plain];
  compare("Python", row, {
    without: () => run("env", env([])),
    held: () => run("env", env([`PYTHONPATH=${guard}`, `MLRB_PERMISSIONS=${file}`])),
  });
}

function compare(
  language: string,
  row: TellRow,
  { without, held }: Record<"without" | "held", () => void>,
): void {
  const all: Record<"without" | "held", number[]> = { without: [], held: [] };
  const timed = (list: number[], act: () => void) => {
    const begin = performance.now();
    act();
    list.push((performance.now() - begin) / 1000);
  };
  held();
  for (let turn = 0; turn < times; turn++) {
    timed(all.without, without);
    timed(all.held, held);
  }
  const plain = median(all.without);
  const more = median(all.held.map((seconds, turn) => seconds - all.without[turn]!));
  const ratio = ((plain + more) / plain).toFixed(2);
  row(`${language} held to what it declares, more a stage`, Math.max(0, more), {
    against: `10 ms; ${ratio} × without, ${(1000 * plain).toFixed(0)} ms`,
    other: allowedSeconds,
    target: 1,
  });
}
