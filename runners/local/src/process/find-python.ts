// Finds the Python that builds environments, once per machine. The result is remembered until that Python is
// removed: the next search costs a stat, and an environment does not change with PATH.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";
import { whereWritable } from "../store/read-only-state.ts";

export type FoundPython = { path: string; version: string; stat: string };

const candidates = ["python3", "python3.12", "python3.11", "python3.13", "python3.10", "python"];
const question =
  "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3]); print(getattr(sys, '_base_executable', None) or sys.executable)";

/** The way out when `findPython` finds no Python. */
export const noPython =
  "no Python 3.10 to 3.13 with venv was found on PATH; install one (Debian and Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.12), or name one in MLRB_BASE_PYTHON";

/**
 * A Python 3.10 to 3.13 that can make environments; undefined without one. `memory` is the folder that remembers
 * the result; without `memory`, each call searches again.
 */
export function findPython(memory?: string): FoundPython | undefined {
  const file = memory && join(memory, "python.json");
  const named = process.env.MLRB_BASE_PYTHON;
  const held = named || !file ? undefined : ifReadable(() => readJson(file) as FoundPython);
  if (held?.stat !== undefined && ifReadable(() => statText(held.path)) === held.stat) return held;
  for (const candidate of named ? [named] : candidates) {
    const answer = spawnSync(candidate, ["-c", question], { encoding: "utf8", timeout: 30_000 });
    const [version, path] = (answer.stdout ?? "").split("\n");
    if (answer.status !== 0 || !version || !path || !/^3\.1[0-3]\./.test(version)) continue;
    const found = { path, version, stat: statText(path) };
    if (!named && file) whereWritable(() => writeJson(file, found));
    return found;
  }
  return undefined;
}

function statText(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}
