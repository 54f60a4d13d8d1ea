// Builds a Python environment from a lock file, in place: a venv holds its own path. docs/machines.md By hand:
// node pipelines/steps/environment.ts --param lock=pipelines/environments/ml.lock --output environment=DIR
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { stage } from "@mlrb/kit/stage";
import { findPython, noPython } from "@mlrb/local/process/find-python";
import { $ } from "zx";
import { installCause } from "./environment/install-cause.ts";
import { nameKey, readLock } from "./environment/lock-file.ts";
import { leftOutText, pipParts } from "./environment/pip-parts.ts";
import { uvSettings } from "./environment/uv-settings.ts";

const { params, outputs } = stage();
const file = String(params.lock);
const lock = readLock(readFileSync(file, "utf8"), file);
if ("problems" in lock)
  fail(
    `${lock.problems.join("\n")}\n  help: \`node scripts/update-environment.ts ${file}\` rebuilds it from ${basename(file, ".lock")}.in`,
  );

const python = findPython(process.env.TMPDIR)?.path;
if (!python)
  fail(
    process.env.MLRB_BASE_PYTHON
      ? `MLRB_BASE_PYTHON names ${process.env.MLRB_BASE_PYTHON}, which is no Python 3.10 to 3.13 with venv`
      : noPython,
  );
const version = (await $`${python} --version`.quiet()).stdout.trim();

const home = outputs.environment!;
const inside = `${home}/bin/python`;
console.log(`${basename(file)}: making an environment with ${version}`);
await step("making the environment", ["-m", "venv", "--without-pip", home], python);
// venv would run ensurepip itself, and hide the cause of a failure, such as a full disk
await step("making the environment", ["-Im", "ensurepip", "--upgrade", "--default-pip"]);

// the tags of the installed pip, which decides what it can install
const asked = lock.pins.some(({ only }) => only.length > 0)
  ? await step("asking pip which files run here", [
      "-c",
      "from pip._vendor.packaging.tags import sys_tags; print(*sys_tags(), sep='\\n')",
    ])
  : "";
const { leftOut, ...parts } = pipParts(lock, asked.split("\n"));
for (const pin of leftOut) console.log(leftOutText(pin));
// kept in the environment as a record of its contents
const folder = join(home, "requirements");
mkdirSync(folder);
for (const [name, text] of Object.entries(parts)) writeFileSync(join(folder, `${name}.txt`), text);

await step("installing", [
  ...["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile"],
  ...["--no-deps", "--require-hashes", "--only-binary", ":all:"],
  ...["-r", join(import.meta.dirname, "../environments/installer.lock")],
]);
const config = await step("reading pip's settings", ["-m", "pip", "config", "list"]);
const settings = { ...uvSettings(config, "installing"), ...process.env, UV_NO_VERIFY_HASHES: "0" };
const uv = (what: string, command: string, ...more: string[]) =>
  step(what, ["pip", command, "--quiet", "--python", inside, ...more], `${home}/bin/uv`, settings);
const from = (name: string) => ["-r", join(folder, `${name}.txt`)];
const wheels = ["--no-deps", "--only-binary", ":all:"];
const sources = ["--no-deps", "--no-build-isolation"];
const locked = new Set(lock.pins.map(({ key }) => key));

// The lock names every package with its dependencies. In one command, which loads and unpacks all of them at the
// same time, each file that has hashes is checked; readLock has seen to it that only unhashed pins have none.
const unhashed = parts.unhashed ? await furtherDependencies() : [];
if (parts.wheels || unhashed.length > 0)
  await uv("installing", "install", ...wheels, ...(parts.wheels ? from("wheels") : []), ...unhashed);
// by the pinned setuptools of the wheels: in isolation, uv would download another one that no hash covers
if (parts.sources) await uv("installing", "install", "--require-hashes", ...sources, ...from("sources"));
await uv("checking", "check");
// after the check, which would report their declared dependencies as missing
if (parts.alone) await uv("installing", "install", "--require-hashes", ...wheels, ...from("alone"));
// Imports leave the modules compiled for every stage. Compiling all modules would take longer.
await Promise.all(
  lock.warm.map((one) =>
    step("trying it out", ["-c", `import sys; sys.dont_write_bytecode = False; ${one}`]),
  ),
);
console.log("ready");

/** Files with the unhashed pins and with what these need beside the lock, as torch's CUDA builds do. */
async function furtherDependencies(): Promise<string[]> {
  const plain = ["--no-header", "--no-annotate", "--only-binary", ":all:"];
  const pinned = parts.wheels ? ["-c", join(folder, "wheels.txt")] : [];
  const [, asked] = from("unhashed");
  const needed = await uv("looking for further dependencies", "compile", ...plain, ...pinned, asked!);
  const outside = needed.split("\n").filter((line) => line && !locked.has(nameKey(line.split("==")[0]!)));
  if (outside.length === 0) return from("unhashed");
  console.log(`installing further dependencies of this build: ${outside.join(", ")}`);
  writeFileSync(join(folder, "outside.txt"), outside.map((line) => `${line}\n`).join(""));
  return [...from("unhashed"), ...from("outside")];
}

/** Returns the program's stdout. Ends this script when the program fails. */
async function step(
  what: string,
  args: string[],
  program: string = inside,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const result = await $({ nothrow: true, quiet: true, env })`${program} ${args}`;
  const said = `${result.stdout}${result.stderr}`.trim();
  if (result.exitCode !== 0 && said) console.log(said);
  if (result.exitCode === 0 && result.stderr.trim()) console.log(result.stderr.trim());
  if (result.exitCode !== 0) {
    const machine = `${version} on ${process.platform} ${process.arch}`;
    fail(`${what} failed: ${installCause(said, { lock: file, machine, exitCode: result.exitCode })}`);
  }
  return result.stdout;
}

function fail(message: string): never {
  console.error(`mlrb: ${message}`);
  process.exit(1);
}
