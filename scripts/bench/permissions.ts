// The cost of enforcing a stage's declared permissions: a small script alternates with and without them.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodePermissionFlags, type Permissions } from "@mlrb/core/ports/permissions";
import { findPython } from "@mlrb/local/process/find-python";
import { type Bench, median, repository, run, seconds, type TellRow } from "./tools.ts";

const times = 41;
const allowedSeconds = 0.01;
const source = (name: string) => join(repository, "runners/local/src", name);

export async function benchPermissions({ work, row }: Bench): Promise<void> {
  const folder = join(work, "permissions");
  mkdirSync(folder);
  const kit = join(repository, "runners/kit/src");
  const permissions: Permissions = {
    // as many files as a large step imports
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
  // like stages: compiled code is cached for the next run
  const cached = [`NODE_COMPILE_CACHE=${join(folder, "compiled")}`, process.execPath];
  await compare("TypeScript", row, {
    without: () => run("env", [...cached, script]),
    held: () => run("env", [...cached, ...nodePermissionFlags(permissions), script]),
  });
  const python = findPython(folder)?.path;
  if (python === undefined) {
    console.log("no row for Python: none was found");
    return;
  }
  const guard = source("process/python-guard");
  const file = join(folder, "permissions.json");
  const plain = join(folder, "script.py");
  writeFileSync(
    file,
    JSON.stringify({ ...permissions, reads: [...permissions.reads, "/usr", guard], guard }),
  );
  writeFileSync(plain, "import json, pathlib\n"); // as every stage script does through the kit
  const env = (more: string[]) => ["-u", "PYTHONPATH", ...more, python, plain];
  await compare("Python", row, {
    without: () => run("env", env([])),
    held: () => run("env", env([`PYTHONPATH=${guard}`, `MLRB_PERMISSIONS=${file}`])),
  });
}

async function compare(
  language: string,
  row: TellRow,
  { without, held }: Record<"without" | "held", () => unknown>,
): Promise<void> {
  const [free, more]: [number[], number[]] = [[], []];
  held();
  for (let turn = 0; turn < times; turn++) {
    free.push(await seconds(without));
    more.push((await seconds(held)) - free[turn]!);
  }
  const [plain, beyond] = [median(free), median(more)];
  const ratio = ((plain + beyond) / plain).toFixed(2);
  row(`${language} with enforced permissions, extra time per stage`, Math.max(0, beyond), {
    against: `10 ms; ${ratio} × without, ${(1000 * plain).toFixed(0)} ms`,
    other: allowedSeconds,
    target: 1,
  });
}
