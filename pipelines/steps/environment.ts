// Builds a Python environment from a lock file, in place: a venv holds its own path.
// By hand: node pipelines/steps/environment.ts --param lock=pipelines/environments/ml.lock --output environment=DIR
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { stage } from "@mlrb/kit/stage";
import { findPython, noPython } from "@mlrb/local/find-python";
import { $, type ProcessOutput } from "zx";

const { params, outputs } = stage();
const lock = String(params.lock);
const python = findPython(process.env.TMPDIR ?? "/tmp")?.path;
if (!python)
  fail(
    process.env.MLRB_BASE_PYTHON
      ? `MLRB_BASE_PYTHON names ${process.env.MLRB_BASE_PYTHON}, which is no Python 3.10 to 3.13 with venv`
      : noPython,
  );

const home = outputs.environment!;
const inside = `${home}/bin/python`;
// Compiling every module takes longer than compiling those that are imported, below.
const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile"];

console.log(
  `${basename(lock)}: making an environment with ${(await $`${python} --version`.quiet()).stdout.trim()}`,
);
await step("making the environment", ["-m", "venv", home], python);
// The lock names everything, so nothing is resolved. torch alone may ask for more: its builds with
// CUDA need packages that the CPU build, which has none of them, does not.
await step("installing", [...pip, "--no-deps", "-r", lock], inside);
const check = await $({ nothrow: true, quiet: true })`${inside} -m pip check`;
if (check.exitCode !== 0) {
  console.log(`${check.stdout.trim()}\ninstalling what else this build of a package needs`);
  await step("installing", [...pip, "-r", lock], inside);
  await step("checking", ["-m", "pip", "check"], inside);
}
// What the lock file says is imported is imported once here, which leaves it compiled for every stage.
const warm = /^# warm: (.+)$/m.exec(readFileSync(lock, "utf8"))?.[1];
if (warm) {
  delete process.env.PYTHONDONTWRITEBYTECODE;
  await step("trying it out", ["-c", warm], inside);
}
console.log("ready");

async function step(what: string, args: string[], program: string): Promise<void> {
  const result = await $({ nothrow: true, quiet: true })`${program} ${args}`;
  const said = `${result.stdout}${result.stderr}`.trim();
  if (said) console.log(said);
  if (result.exitCode !== 0) fail(`${what} failed: ${cause(result)}`);
}

/** The way out of the ways in which installing usually fails. */
function cause(result: ProcessOutput): string {
  const said = `${result.stdout}${result.stderr}`;
  if (/No space left|Errno 28|ENOSPC|Disk quota/i.test(said)) {
    return "the disk is full; this environment takes about 2 GB, and as much again while it is installed. Free some space, or choose another --root, and run again";
  }
  if (/ensurepip|No module named venv/i.test(said)) {
    return "this Python cannot make environments; install venv (Debian and Ubuntu: apt install python3-venv) and run again";
  }
  if (
    /name resolution|Max retries|NewConnectionError|ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|unreachable|SSLError|Connection refused|Connection broken/i.test(
      said,
    )
  ) {
    return "the Python package index cannot be reached; check the network (and PIP_INDEX_URL, https_proxy if you use them) and run again. Nothing else needs the network";
  }
  if (/No matching distribution|Could not find a version/i.test(said)) {
    return `the package index has no build of a pinned package for this Python or machine; Python 3.11 or 3.12 on Linux or macOS is what ${lock} was made for`;
  }
  return `exit status ${result.exitCode}; what it said stands above`;
}

function fail(message: string): never {
  console.error(`mlrb: ${message}`);
  process.exit(1);
}
