// Third-party programs, for tests of their interoperation with mlrb. Tests that need them download pinned versions
// below .mlrb/foreign; no lock file has them. If a registry fails, the test is skipped.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { takeLease } from "@mlrb/local/leases/lease";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { uvSettings } from "../../../pipelines/steps/environment/uv-settings.ts";
import { ensureEnvironment } from "../../../scripts/ensure-environment.ts";

const repository = join(import.meta.dirname, "../../..");
const fetchTimeoutMs = 8 * 60_000;

/** `skip` is the reason, for `test(…, { skip })`. */
export type Foreign = { path: string; skip: false } | { path: undefined; skip: string };

/** `path`: the folder with node_modules. Install scripts of packages do not run. */
export function foreignNpm(packages: string[]): Promise<Foreign> {
  return fetched(`npm-${packages.join("-")}`, async (folder) => {
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"];
    run("npm", ["install", ...quiet, ...packages], { cwd: folder });
    return folder;
  });
}

type PythonOptions = {
  /** The lowest minor version of Python 3 for the packages. */
  python?: number;
  /** A Python to use, whose packages are searched after the downloaded ones. */
  like?: { python: string; packages: string };
};

/** `path`: the Python with the packages. */
export function foreignPython(packages: string[], options: PythonOptions = {}): Promise<Foreign> {
  const { python: minor = 11, like } = options;
  return fetched(`python-${packages.join("-")}`, async (folder) => {
    const base = like?.python ?? findPython(minor);
    if (base === undefined) throw new Error(`there is no Python 3.${minor} or newer here`);
    run(base, ["-m", "venv", "--without-pip", folder]);
    const python = join(folder, "bin/python");
    const uv = join(dirname(await ensureEnvironment("pipelines/environments/tools.lock")), "uv");
    const { stdout } = spawnSync("pip", ["config", "list"], { encoding: "utf8" });
    const env = {
      ...process.env,
      ...uvSettings(stdout ?? "", "installing"),
      UV_CACHE_DIR: join(folder, "uv-cache"),
    };
    run(uv, ["pip", "install", "--quiet", "--python", python, ...packages], { env });
    rmSync(join(folder, "uv-cache"), { recursive: true, force: true });
    const [version] = readdirSync(join(folder, "lib"));
    if (like) writeFileSync(join(folder, `lib/${version}/site-packages/like.pth`), `${like.packages}\n`);
    return python;
  });
}

/** The result of `make`, which runs once for the repository. */
async function fetched(name: string, make: (folder: string) => Promise<string>): Promise<Foreign> {
  const slug = name.replaceAll(/[^A-Za-z0-9.]+/g, "-");
  const state = stateFolder(repository);
  const folder = join(repository, ".mlrb/foreign", slug);
  const ready = join(folder, "ready");
  const lease = await takeLease(state.leases, `foreign-${slug}`);
  try {
    if (existsSync(ready)) return { path: folder + readFileSync(ready, "utf8"), skip: false };
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const path = await make(folder);
    writeFileSync(ready, path.slice(folder.length));
    return { path, skip: false };
  } catch (error) {
    return { path: undefined, skip: `${name} could not be fetched: ${(error as Error).message}` };
  } finally {
    if (lease && "release" in lease) lease.release();
  }
}

/** Prefers the newest minor version on PATH. Finds pyenv's versions by their shims, also inactive ones. */
function findPython(minor: number): string | undefined {
  const folders = (process.env.PATH ?? "").split(":");
  const pyenv = folders.filter((folder) => folder.endsWith("/shims")).map((folder) => dirname(folder));
  const minors = [11, 12, 13].filter((one) => one >= minor);
  const candidates = minors.flatMap((one) => [
    ...pyenv.flatMap((root) => globSync(join(root, `versions/3.${one}.*/bin/python3.${one}`))),
    ...folders.map((folder) => join(folder, `python3.${one}`)),
  ]);
  return candidates.find(
    (path) => existsSync(path) && spawnSync(path, ["-c", "import venv"], { timeout: 30_000 }).status === 0,
  );
}

function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): void {
  const { status, stderr, error } = spawnSync(program, args, {
    ...options,
    encoding: "utf8",
    timeout: fetchTimeoutMs,
  });
  if (status === 0) return;
  const said = (stderr ?? "").trim().split("\n").slice(-3).join(" ");
  throw new Error(`${program} ${args[0]}: ${error?.message ?? said}`);
}
