// Python environments take minutes to build, so tests share them: MLRB_TEST_ENVIRONMENTS names their folder. If it is
// not set or lacks an environment, the run under test builds what it needs, as for a user, in a folder that is removed
// when the test file's process ends.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileDigests } from "@mlrb/local/digests/file-digest-memory";
import {
  environmentKey,
  environmentPath,
  environmentPython,
  environmentReady,
  markReady,
} from "@mlrb/local/process/environments";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { readLock } from "../../pipelines/steps/environment/lock-file.ts";

let own: string | undefined;

/** Makes the state of `root` use the shared environments. */
export function shareEnvironments(root: string): void {
  const given = process.env.MLRB_TEST_ENVIRONMENTS;
  if (given === undefined && own === undefined) {
    const made = mkdtempSync(join(tmpdir(), "mlrb-environments-"));
    own = made;
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  }
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  symlinkSync(given ?? own!, join(root, ".mlrb/environments"));
}

/**
 * The same, and makes the environment of `lock` out of that of `base`, whose packages it has with those of `more`: a copy by
 * hard links, into which pip installs the files with the lock's hashes. Seconds instead of minutes.
 */
export function shareEnvironmentsAnd(
  root: string,
  repository: string,
  { lock, base, more }: { lock: string; base: string; more: string[] },
): void {
  const shared = process.env.MLRB_TEST_ENVIRONMENTS;
  if (shared === undefined) {
    shareEnvironments(root);
    return;
  }
  const state = stateFolder(root);
  for (const name of readdirSync(shared)) symlinkSync(join(shared, name), join(state.environments, name));
  const digests = new FileDigests(repository, state.memory);
  const pathOf = (file: string) => {
    const key = environmentKey(file, { state, digests });
    return { key, path: environmentPath(state, key) };
  };
  const [from, { key, path }] = [pathOf(base).path, pathOf(lock)];
  if (existsSync(path) || !environmentReady(from)) return;
  execFileSync("cp", ["-aL", "--no-target-directory", "--link", from, path]);
  rmSync(join(path, "ready.json"));
  const read = readLock(readFileSync(join(repository, lock), "utf8"), lock);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  const pins = read.pins.filter(({ key }) => more.includes(key)).map(({ text }) => `${text}\n`);
  const requirements = join(path, "more.txt");
  writeFileSync(requirements, pins.join(""));
  const pip = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-input",
    "--disable-pip-version-check",
    "--no-compile",
  ];
  const hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", requirements];
  execFileSync(environmentPython(path), [...pip, ...hashed], { stdio: ["ignore", "pipe", "pipe"] });
  markReady(path, key);
}
