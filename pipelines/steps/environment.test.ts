import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ensureEnvironment } from "../../scripts/ensure-environment.ts";
import { closedPort } from "./environment/testing/closed-port.ts";
import { addInstaller, noPipSettings, onlyFrom, packageFolder } from "./environment/testing/packages.ts";

const root = mkdtempSync(join(tmpdir(), "environment-step-"));
after(() => rmSync(root, { recursive: true }));

const packages = packageFolder(root, [
  { name: "plain", version: "1.0" },
  { name: "other", version: "2.0", needs: ["plain==1.0"] },
  { name: "source", version: "3.0", tag: "sdist" },
  { name: "elsewhere", version: "4.0", tag: "py3-none-win32" },
  { name: "accelerated", version: "5.0", needs: ["driver[fast]>=6", "plain>=1"] },
  { name: "driver", version: "6.0", needs: ['inner ; extra == "fast"', 'absent ; extra == "slow"', "plain"] },
  { name: "inner", version: "9.0", needs: ["driver"] },
  { name: "greedy", version: "7.0", needs: ["driver"] },
  { name: "lonely", version: "8.0", needs: ["nobody"] },
]);
const { pin } = packages;
before(async () =>
  addInstaller(packages.folder, await ensureEnvironment("pipelines/environments/tools.lock")),
);

/** Runs the step on a lock file with this text, with the real pip and uv. */
async function build(text: string, env: Record<string, string> = onlyFrom(packages.folder)) {
  const folder = mkdtempSync(join(root, "e-"));
  const [lock, home] = [join(folder, "test.lock"), join(folder, "environment")];
  writeFileSync(lock, text);
  const args = ["--param", `lock=${lock}`, "--output", `environment=${home}`];
  const step = join(import.meta.dirname, "environment.ts");
  const { status, stdout, stderr } = await run(process.execPath, [step, ...args], env);
  const python = join(home, "bin/python");
  return {
    status,
    log: stdout,
    /** Its error output, with a short path for the lock. */
    error: stderr.replaceAll(lock, "test.lock"),
    made: existsSync(python),
    async installed() {
      const list = await run(python, ["-m", "pip", "list", "--format=freeze"], env);
      return list.stdout.split("\n").filter((line) => line && !/^(pip|setuptools|uv)==/.test(line));
    },
  };
}

function run(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => (said.stdout += data));
  child.stderr.on("data", (data) => (said.stderr += data));
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((done) =>
    child.on("close", (status) => done({ status, ...said })),
  );
}

const wrong = "0".repeat(64);

test("the step installs hashed wheels, builds hashed sources, and leaves out only pins without a matching tag", async () => {
  const built = await build(`# A test's.
# warm: import plain, other
# warm: import source; print("tried")
# section: wheels
${pin("plain")}
${pin("other")} \\
    --hash=sha256:${wrong}
elsewhere==4.0 ; sys_platform == "win32" --hash=sha256:${wrong}
# section: sources
${pin("source")}
# section: optional
# only: py3-none-win32
# without: Nothing is drawn.
${pin("elsewhere")}
# only: py3-none-win_arm64 py3-none-any
${pin("driver")}
# section: alone
${pin("lonely")}
`);
  assert.equal(built.status, 0, built.error + built.log);
  assert.deepEqual(await built.installed(), [
    "driver==6.0",
    "lonely==8.0",
    "other==2.0",
    "plain==1.0",
    "source==3.0",
  ]);
  assert.match(
    built.log,
    /^left out: elsewhere 4\.0, whose files are for py3-none-win32; this machine runs none of them\. Nothing is drawn\.$/m,
  );
  assert.equal(built.log.match(/left out/g)!.length, 1);
});

test("a file with another hash than the pinned one is refused by name, whatever uv's own settings are", async () => {
  const env = { ...onlyFrom(packages.folder), UV_NO_VERIFY_HASHES: "1" };
  const built = await build(
    `# section: unhashed\ninner==9.0\n# section: wheels\n${pin("plain")}\ndriver==6.0 --hash=sha256:${wrong}\n`,
    env,
  );
  assert.equal(built.status, 1);
  assert.match(
    built.error,
    /^mlrb: installing failed: the package index sent a file for driver==6\.0 that test\.lock does not pin\./,
  );
  assert.match(built.error, /Find out why the hash differs before you pin a new one\n$/);
  assert.deepEqual(await built.installed(), []);
});

test("a changed source is refused before it is built", async () => {
  const built = await build(`# section: sources\nsource==3.0 --hash=sha256:${wrong}\n`);
  assert.equal(built.status, 1);
  assert.match(built.error, /sent a file for source==3\.0 that/);
});

test("a pin without a build for this machine fails by name, even an optional one with a matching tag", async () => {
  const built = await build(
    `# section: wheels\n${pin("plain")}\n# section: optional\n# only: py3-none-any\n${pin("elsewhere")}\n`,
  );
  assert.equal(built.status, 1);
  assert.match(
    built.error,
    /^mlrb: installing failed: the package index has no build of elsewhere==4\.0 for Python 3\.\d+\.\d+ on \w+ \w+;/,
  );
  assert.doesNotMatch(built.log, /left out/);
});

test("an unreachable index is distinguished from a missing package, also for optional pins", async () => {
  const env = {
    ...noPipSettings(),
    PIP_RETRIES: "1",
    PIP_INDEX_URL: `http://127.0.0.1:${await closedPort()}/simple`,
  };
  const built = await build(
    `# section: optional\n# only: py3-none-any\nabsent==1.0 --hash=sha256:${wrong}\n`,
    env,
  );
  assert.equal(built.status, 1);
  assert.equal(
    built.error,
    "mlrb: installing failed: the Python package index cannot be reached; check the network (and PIP_INDEX_URL, https_proxy if you use them) and run again. Nothing else needs the network\n",
  );
  assert.doesNotMatch(built.log, /left out/);
});

test("dependencies of an unhashed package outside the lock are installed unhashed, with theirs", async () => {
  const built = await build(`# section: unhashed\naccelerated==5.0\n# section: wheels\n${pin("plain")}\n`);
  assert.equal(built.status, 0, built.error);
  assert.match(built.log, /^installing further dependencies of this build: driver==6\.0, inner==9\.0$/m);
  assert.deepEqual(await built.installed(), ["accelerated==5.0", "driver==6.0", "inner==9.0", "plain==1.0"]);
});

test("a hashed package with dependencies outside the lock fails the build", async () => {
  const built = await build(`# section: wheels\n${pin("greedy")}\n`);
  assert.equal(built.status, 1);
  assert.match(built.log, /`greedy` requires `driver`, but it's not installed/);
  assert.match(built.error, /^mlrb: checking failed/);
});

test("a broken lock is refused before the build, with all of its problems", async () => {
  const built = await build(
    `early==1.0\n# section: wheels\n${pin("plain")}\nplain>=2\n--index-url x\nother==2.0\ndriver==6.0 --hash=sha256:12\n`,
  );
  assert.equal(built.status, 1);
  assert.equal(
    built.error,
    `mlrb: test.lock:1: "early==1.0" comes before the first "# section:" line
test.lock:4: "plain>=2" is no pin; expected NAME==VERSION and its hashes
test.lock:5: "--index-url x" is no pin; expected NAME==VERSION and its hashes
test.lock:6: other has no hash
test.lock:7: driver has a hash that is not sha256 and 64 digits
  help: \`node scripts/update-environment.ts test.lock\` rebuilds it from test.in
`,
  );
  assert.equal(built.made, false);
});

test("a MLRB_BASE_PYTHON that is not a Python is named in the error", async () => {
  const env = { ...onlyFrom(packages.folder), MLRB_BASE_PYTHON: "/bin/false" };
  const built = await build(`# section: wheels\n${pin("plain")}\n`, env);
  assert.equal(built.status, 1);
  assert.equal(
    built.error,
    "mlrb: MLRB_BASE_PYTHON names /bin/false, which is no Python 3.10 to 3.13 with venv\n",
  );
});
