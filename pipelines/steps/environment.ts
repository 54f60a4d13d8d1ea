// Builds a Python environment from a lock file, in place: a venv holds its own path. docs/machines.md By hand:
// node pipelines/steps/environment.ts --param lock=pipelines/environments/ml.lock --output environment=DIR
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { stage } from "@mlrb/kit/stage";
import { findPython, noPython } from "@mlrb/local/process/find-python";
import { $ } from "zx";
import { installCause } from "./environment/install-cause.ts";
import { type Pin, readLock } from "./environment/lock-file.ts";
import { leftOutText, pipParts } from "./environment/pip-parts.ts";
import { requirementsOutside } from "./environment/requirements-outside.ts";

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

// Compiling every module takes longer than compiling the imported ones, below.
const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile"];
const from = (name: keyof typeof parts) => ["-r", join(folder, `${name}.txt`)];
// The lock names every package, so pip resolves nothing. Sources are built by the pinned setuptools of the
// wheels: in isolation, pip would download another one that no hash covers.
const hashed = [...pip, "--no-deps", "--require-hashes"];
const installHashed = async () => {
  if (parts.wheels) await step("installing", [...hashed, "--only-binary", ":all:", ...from("wheels")]);
  if (parts.sources)
    await step("installing", [...hashed, "--use-pep517", "--no-build-isolation", ...from("sources")]);
  await tryOut(lock.warm.slice(0, -1));
};
const names = (pins: Pin[]) => pins.map(({ name }) => name);
const unhashed = names(lock.pins.filter(({ section }) => section === "unhashed"));
const installUnhashed = async () => {
  if (!parts.unhashed) return;
  await step("installing", [...pip, "--no-deps", ...from("unhashed")]);
  // only torch may need more packages: its CUDA builds have dependencies that the CPU build lacks
  const outside = requirementsOutside(unhashed, names(lock.pins));
  for (let before = ""; ; ) {
    const found = await step("looking for further dependencies", outside);
    const needed: string[] = JSON.parse(found);
    if (needed.length === 0 || found === before) return; // pip's check names what is still missing
    console.log(`installing further dependencies of this build: ${needed.join(", ")}`);
    await step("installing", [...pip, "--no-deps", ...needed]);
    before = found;
  }
};
// At the same time: torch alone is half of the bytes, pip uses one core, and every model stage waits for both.
await Promise.all([installHashed(), installUnhashed()]);
await step("checking", ["-m", "pip", "check"]);
// after the check, which would report their declared dependencies as missing
if (parts.alone) await step("installing", [...hashed, "--only-binary", ":all:", ...from("alone")]);
await tryOut(lock.warm.slice(-1));
console.log("ready");

/** Runs imports once, which leaves the modules compiled for every stage. */
async function tryOut(statements: string[]): Promise<void> {
  for (const one of statements) {
    await step("trying it out", ["-c", `import sys; sys.dont_write_bytecode = False; ${one}`]);
  }
}

/** Returns the program's stdout. Ends this script when the program fails. */
async function step(what: string, args: string[], program: string = inside): Promise<string> {
  const result = await $({ nothrow: true, quiet: true })`${program} ${args}`;
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
