// Resolves a .in file anew and rewrites the lock file beside it, saying what changed. Pins stay as they are
// unless the .in file asks for another version or --upgrade names them; without the lock everything is new.
// On any trouble the old file stays. uv resolves, for all Pythons and platforms at once, and lists the hashes
// of all files of a release; pip installs. docs/environments.md
//   node scripts/update-environment.ts pipelines/environments/ml.lock [--upgrade NAME]…
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import {
  nameKey,
  readLock,
  readPin,
  readSections,
  type Section,
} from "../pipelines/steps/environment/lock-file.ts";
import { ensureEnvironment } from "./ensure-environment.ts";
import { lockChanges, lockText, resolvedPins } from "./lock-text.ts";
import { uvSettings } from "./uv-settings.ts";

/** The oldest Python that environments are made with: one version of each package serves all. */
const oldestPython = "3.10";

type Updated = { kind: "written" | "same"; changes: string[] } | { kind: "failed"; message: string };

/** Rewrites the lock at `path`, whose .in stands beside it. `python` has uv beside it. */
function updateEnvironment(path: string, given: { python: string; upgrade?: string[] }): Updated {
  const base = path.replace(/\.(in|lock)$/, "");
  const [from, to] = [`${base}.in`, `${base}.lock`];
  if (!existsSync(from))
    return { kind: "failed", message: `there is no ${from}; it lists what the lock is to hold` };
  const input = readFileSync(from, "utf8");
  const asked = readSections(input, from);
  if (asked.problems.length > 0) return { kind: "failed", message: asked.problems.join("\n") };

  const old = existsSync(to) ? readFileSync(to, "utf8") : "";
  const held = readSections(old, to).entries.flatMap((entry) => readPin(entry) ?? []);
  const upgrade = new Set((given.upgrade ?? []).map(nameKey));
  const unknown = [...upgrade].filter((key) => !held.some((pin) => pin.key === key));
  if (unknown.length > 0) return { kind: "failed", message: `${to} has no ${unknown.join(", ")} to upgrade` };

  const folder = mkdtempSync(join(tmpdir(), "mlrb-lock-"));
  try {
    const lines = (items: string[]) => items.map((item) => `${item}\n`).join("");
    const texts = (...wanted: Section[]) =>
      asked.entries.filter(({ section }) => wanted.includes(section)).map(({ text }) => text);
    const kept = held.filter(({ key }) => !upgrade.has(key));
    const resolved: ReturnType<typeof resolvedPins> = [];
    for (const alone of [false, true]) {
      const wanted = alone ? texts("alone") : texts("unhashed", "wheels", "sources", "optional");
      if (wanted.length === 0) continue;
      writeFileSync(join(folder, "wanted.in"), lines(wanted));
      writeFileSync(
        join(folder, "resolved.txt"),
        lines(kept.map(({ name, version }) => `${name}==${version}`)),
      );
      const ran = resolve(folder, { python: given.python, sources: texts("sources"), alone });
      if (ran !== undefined) return { kind: "failed", message: `${from}: ${ran}\n${to} is as it was` };
      resolved.push(...resolvedPins(readFileSync(join(folder, "resolved.txt"), "utf8")));
    }
    const text = lockText(input, resolved, from);
    if (typeof text !== "string") return { kind: "failed", message: text.problems.join("\n") };
    const lock = readLock(text, to);
    if ("problems" in lock) return { kind: "failed", message: lock.problems.join("\n") };
    if (text === old) return { kind: "same", changes: [] };
    writeFileSync(`${to}.new`, text);
    renameSync(`${to}.new`, to);
    return { kind: "written", changes: lockChanges(held, lock.pins) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs uv over wanted.in, which rewrites resolved.txt; what went wrong, if anything did. */
function resolve(
  folder: string,
  { python, sources, alone }: { python: string; sources: string[]; alone: boolean },
): string | undefined {
  const config = spawnSync(python, ["-m", "pip", "config", "list"], { encoding: "utf8" });
  const flags =
    "pip compile wanted.in --output-file resolved.txt --quiet --no-config --universal --generate-hashes --no-header --no-annotate";
  const built = sources.flatMap((text) => ["--no-binary", /^[\w.-]+/.exec(text)![0]]);
  const { status, stderr, error } = spawnSync(
    join(dirname(python), "uv"),
    [
      ...flags.split(" "),
      "--python-version",
      oldestPython,
      "--python",
      python,
      "--only-binary",
      ":all:",
      ...built,
      ...(alone ? ["--no-deps"] : []),
    ],
    {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...uvSettings(config.stdout ?? ""),
        UV_SYSTEM_CERTS: "1",
        UV_PYTHON_DOWNLOADS: "never",
        ...process.env,
      },
    },
  );
  if (status === 0) return undefined;
  const said = (stderr || error?.message || `uv ended with ${status}`).trim();
  if (/error sending request|dns error|tcp connect|Failed to fetch|timed out|certificate/i.test(said))
    return `the Python package index cannot be reached; check the network (and PIP_INDEX_URL, https_proxy if you use them) and run again\n${said}`;
  return `no set of packages satisfies it\n${said}`;
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { upgrade: { type: "string", multiple: true } },
  });
  const python = await ensureEnvironment("pipelines/environments/tools.lock");
  for (const path of positionals.length > 0 ? positionals : ["pipelines/environments/ml.lock"]) {
    const done = updateEnvironment(path, { python, upgrade: values.upgrade ?? [] });
    if (done.kind === "failed") {
      console.error(`mlrb: ${done.message}`);
      process.exitCode = 1;
      continue;
    }
    console.log(done.kind === "same" ? `${path} is up to date` : `${path} written`);
    for (const change of done.changes) console.log(`  ${change}`);
  }
}
