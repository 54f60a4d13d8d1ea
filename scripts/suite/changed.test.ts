import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { changedFiles, sourcesOf } from "./changed-files.ts";
import { testsReaching } from "./reach.ts";

const sources = new Map(
  Object.entries({
    "runners/core/src/units.ts": "",
    "runners/core/src/plan.ts": 'import { a } from "./units.ts";',
    "runners/core/src/units.test.ts": 'import { a } from "./units.ts";',
    "runners/core/src/plan.test.ts": 'import {\n  plan,\n} from "./plan.ts";',
    "runners/core/src/other.test.ts": "",
    "runners/cli/golden/progress-40.txt": "",
    "runners/cli/src/command.ts": 'const lazy = await import("@mlrb/core/plan");',
    "runners/cli/src/command.test.ts": 'import type { X } from "./command.ts";',
    "runners/local/src/server.ts": 'const program = join(here, "fork_server.py");',
    "runners/local/src/fork_server.py": "import os\nimport fork_job\n",
    "runners/local/src/fork_job.py": "from fork_places import Place\n",
    "runners/local/src/fork_places.py": "",
    "runners/local/src/server.test.ts": 'import { serve } from "./server.ts";',
    "runners/report/src/report.test.ts": "",
    "scorers/bleu/measure.py": "",
    "scorers/bleu/tests/bleu.test.ts": "",
    "scorers/library/pack/lean/check.py": "from pack.lean import (\n    launch,\n)\n",
    "scorers/library/pack/lean/launch.py": "",
    "scorers/library/pack/lean/measure.py": "",
    "scorers/lean/tests/lean.test.ts": 'runPythonTests("test_lean.py");',
    "scorers/lean/tests/test_lean.py": "import json, pack.lean.check\n",
    "scorers/rouge/tests/rouge.test.ts": "",
    "scorers/scorers.contract.test.ts": "const scripts = folders.map((folder) => join(folder, script));",
    "tests/support/lab.ts": 'import { x } from "@mlrb/core/plan";',
    "tests/crash.e2e.test.ts": 'import { lab } from "./support/lab.ts";',
  }),
);
const reaching = (...changed: string[]) => testsReaching(changed, sources);

test("a module reaches the tests that import it directly, indirectly or lazily", () => {
  assert.deepEqual(reaching("runners/core/src/units.ts"), [
    "runners/cli/src/command.test.ts",
    "runners/core/src/plan.test.ts",
    "runners/core/src/units.test.ts",
  ]);
  assert.deepEqual(reaching("runners/core/src/plan.test.ts"), ["runners/core/src/plan.test.ts"]);
});

test("a Python script reaches the tests of files that name it, also through imports", () => {
  assert.ok(reaching("runners/local/src/fork_places.py").includes("runners/local/src/server.test.ts"));
  assert.ok(!reaching("runners/local/src/fork_places.py").includes("runners/report/src/report.test.ts"));
});

test("a module of a Python package reaches the tests that import it by its dotted name, and no others", () => {
  const inLibrary = (name: string) => reaching(`scorers/library/pack/lean/${name}.py`);
  const [own, contract] = ["scorers/lean/tests/lean.test.ts", "scorers/scorers.contract.test.ts"];
  assert.deepEqual(inLibrary("check"), [own, contract]);
  assert.deepEqual(inLibrary("launch"), [own, contract]);
  assert.deepEqual(inLibrary("measure"), [contract], "nothing imports it");
});

test("a file that nothing imports reaches the tests in its folder and directly above", () => {
  assert.deepEqual(reaching("scorers/bleu/measure.py"), [
    "scorers/bleu/tests/bleu.test.ts",
    "scorers/scorers.contract.test.ts",
  ]);
  assert.deepEqual(reaching("runners/cli/golden/progress-40.txt"), ["runners/cli/src/command.test.ts"]);
});

test("only its own imports reach a test of the whole program; a package or a compiler option reaches every test", () => {
  assert.deepEqual(reaching("tests/support/lab.ts"), ["tests/crash.e2e.test.ts"]);
  assert.equal(reaching("pnpm-lock.yaml").length, 11);
  assert.deepEqual(reaching(), []);
});

test("a deleted file still reaches the tests that import it", () => {
  const left = new Map(sources);
  left.delete("runners/core/src/units.ts");
  assert.equal(testsReaching(["runners/core/src/units.ts"], left).length, 3);
});

test("commits of the branch, edits and new files differ from main; later commits of main do not", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "changed-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) => {
    const who = [
      "-c",
      "user.name=test",
      "-c",
      "user.email=test@example.org",
      "-c",
      "init.defaultBranch=main",
    ];
    execFileSync("git", [...who, ...args], { cwd: folder, stdio: "ignore" });
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  git("init");
  for (const path of ["a.ts", "b.ts", "c.ts", "moved.ts", ".gitignore"])
    write(path, path === ".gitignore" ? "ignored\n" : `${path}\n`);
  git("add", "-A");
  git("commit", "-m", "first");
  git("checkout", "-b", "work");
  write("a.ts", "2");
  git("commit", "-am", "committed");
  git("checkout", "main");
  write("c.ts", "main's own");
  git("commit", "-am", "main goes on");
  git("checkout", "work");
  write("b.ts", "not committed");
  write("new/fünf.ts", "new");
  write("ignored", "x");
  git("mv", "moved.ts", "elsewhere.ts"); // tests that import it by its old name fail now
  assert.deepEqual(changedFiles(folder), ["a.ts", "b.ts", "elsewhere.ts", "moved.ts", "new/fünf.ts"]);
  assert.equal(sourcesOf(folder).get("new/fünf.ts"), "new");
});
