// Resolves a .in file, rewrites the lock file next to it and prints what changed. A pin keeps its version
// unless the .in file asks for another one or --upgrade names the package. Without a lock everything is resolved.
// On an error the old file stays. uv resolves for all Pythons and platforms at once, and lists the hashes of all
// files of a release. docs/machines.md
//   node scripts/update-environment.ts pipelines/environments/ml.lock [--upgrade NAME]…
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { $ } from "zx";
import {
  type Entry,
  nameKey,
  type Pin,
  readLock,
  readPin,
  readSections,
} from "../pipelines/steps/environment/lock-file.ts";
import { uvSettings } from "../pipelines/steps/environment/uv-settings.ts";
import { ensureEnvironment } from "./ensure-environment.ts";
import { lockChanges, lockText, resolvedPins } from "./lock-text.ts";

/** The oldest Python of an environment. One version of each package serves all Pythons. */
const oldestPython = "3.10";

type Updated = { kind: "written" | "same"; changes: string[] } | { kind: "failed"; message: string };

/** Rewrites the lock at `path`, whose .in file is in the same folder. uv is in the folder of `python`. */
async function updateEnvironment(
  path: string,
  given: { python: string; upgrade: string[] },
): Promise<Updated> {
  const base = path.replace(/\.(in|lock)$/, "");
  const [from, to] = [`${base}.in`, `${base}.lock`];
  if (!existsSync(from))
    return { kind: "failed", message: `there is no ${from}, which lists the packages of the lock` };
  const input = readFileSync(from, "utf8");
  const asked = readSections(input, from);
  if (asked.problems.length > 0) return { kind: "failed", message: asked.problems.join("\n") };

  const old = existsSync(to) ? readFileSync(to, "utf8") : "";
  const held = readSections(old, to).entries.flatMap((entry) => readPin(entry) ?? []);
  const upgrade = new Set(given.upgrade.map(nameKey));
  const unknown = [...upgrade].filter((key) => !held.some((pin) => pin.key === key));
  if (unknown.length > 0) return { kind: "failed", message: `${to} has no ${unknown.join(", ")} to upgrade` };

  const resolved = await resolve(asked.entries, {
    held: held.filter(({ key }) => !upgrade.has(key)),
    python: given.python,
  });
  if ("trouble" in resolved)
    return { kind: "failed", message: `${from}: ${resolved.trouble}\n${to} is unchanged` };
  const text = lockText(input, resolved.pins, from);
  if (typeof text !== "string") return { kind: "failed", message: text.problems.join("\n") };
  const lock = readLock(text, to);
  if ("problems" in lock) return { kind: "failed", message: lock.problems.join("\n") };
  if (text === old) return { kind: "same", changes: [] };
  writeFileSync(`${to}.new`, text);
  renameSync(`${to}.new`, to);
  return { kind: "written", changes: lockChanges(held, lock.pins) };
}

type Resolved = { pins: ReturnType<typeof resolvedPins> } | { trouble: string };

/** Resolves section `alone` apart from the others, since what it needs is not installed. */
async function resolve(
  entries: Entry[],
  { held, python }: { held: Pin[]; python: string },
): Promise<Resolved> {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-lock-"));
  const lines = (items: string[]) => items.map((item) => `${item}\n`).join("");
  const built = entries
    .filter(({ section }) => section === "sources")
    .flatMap(({ text }) => ["--no-binary", /^[\w.-]+/.exec(text)![0]]);
  const pins: ReturnType<typeof resolvedPins> = [];
  try {
    for (const alone of [false, true]) {
      const wanted = entries.filter(({ section }) => (section === "alone") === alone);
      if (wanted.length === 0) continue;
      const resolved = join(folder, "resolved.txt");
      writeFileSync(join(folder, "wanted.in"), lines(wanted.map(({ text }) => text)));
      writeFileSync(resolved, lines(held.map(({ name, version }) => `${name}==${version}`)));
      const trouble = await runUv(folder, { python, flags: alone ? [...built, "--no-deps"] : built });
      if (trouble !== undefined) return { trouble };
      pins.push(...resolvedPins(readFileSync(resolved, "utf8")));
    }
    return { pins };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs uv over wanted.in, which rewrites resolved.txt. Returns what went wrong, if anything did. */
async function runUv(
  folder: string,
  { python, flags }: { python: string; flags: string[] },
): Promise<string | undefined> {
  const quiet = { nothrow: true, quiet: true } as const;
  const { stdout } = await $(quiet)`${python} -m pip config list`;
  const own = uvSettings(stdout, "resolving");
  const common = "--quiet --universal --generate-hashes --no-header --no-annotate --only-binary :all:".split(
    " ",
  );
  const uv = $({ ...quiet, cwd: folder, env: { ...own, ...process.env } });
  const ran =
    await uv`${join(dirname(python), "uv")} pip compile wanted.in --output-file resolved.txt ${common} --python-version ${oldestPython} --python ${python} ${flags}`;
  if (ran.exitCode === 0) return undefined;
  const said = (ran.stderr || `uv ended with ${ran.exitCode}`).trim();
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
    const done = await updateEnvironment(path, { python, upgrade: values.upgrade ?? [] });
    if (done.kind === "failed") {
      console.error(`mlrb: ${done.message}`);
      process.exitCode = 1;
      continue;
    }
    console.log(done.kind === "same" ? `${path} is up to date` : `${path} written`);
    for (const change of done.changes) console.log(`  ${change}`);
  }
}
