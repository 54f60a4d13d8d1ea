// The repository's files that a Python stage script loads must be in the stage's key: compares the modules that
// Python loaded with the files that the runner digests. Covers every scorer and every Python step of the
// pipelines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { readJson } from "@mlrb/kit/json-file";
import { pythonFolders, pythonPath } from "@mlrb/kit/python-path";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { PythonImports } from "@mlrb/local/digests/python-imports";
import { testPython } from "../scorers/testing/submissions.ts";
import { warmArguments } from "./support/warm-python.ts";

const repository = resolve(import.meta.dirname, "..");
const temporary = mkdtempSync(join(tmpdir(), "mlrb-scorer-code-"));
after(() => rmSync(temporary, { recursive: true }));

const scripts = globSync(["scorers/*/{measure,references}.py", "pipelines/{generate,steps}/*.py"], {
  cwd: repository,
}).sort();

/** Runs each script in a fresh process, except the part under `__main__`. Prints what each loaded. */
const loader = `import json, os, runpy, sys
found = {}
for script in sys.argv[2:]:
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="loaded")
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        os.write(write, json.dumps([file for file in files if file]).encode())
        os._exit(0)
    os.close(write)
    with open(read) as said:
        found[script] = said.read()
    assert os.waitpid(child, 0)[1] == 0, script
with open(sys.argv[1], "w") as out:
    json.dump({script: json.loads(files) for script, files in found.items()}, out)
`;

let loaded: Record<string, string[]>;

before(() => {
  const [program, out] = [join(temporary, "loader.py"), join(temporary, "loaded.json")];
  writeFileSync(program, loader);
  const paths = scripts.map((script) => join(repository, script));
  const ran = spawnSync(testPython(), warmArguments([program, out, ...paths]), {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: pythonPath(repository), PYTHONDONTWRITEBYTECODE: "1" },
  });
  assert.equal(ran.status, 0, ran.stderr);
  loaded = readJson(out) as typeof loaded;
});

const imports = new PythonImports({
  root: repository,
  folders: pythonFolders(repository),
  memory: temporary,
  consulted: new Consulted(repository),
  digestOf: () => "same",
});

for (const script of scripts) {
  test(`the repository modules that ${script} loads are in its stage's key`, () => {
    const inside = loaded[join(repository, script)]!.filter((file) => file.startsWith(`${repository}/`))
      .map((file) => file.slice(repository.length + 1))
      .filter((file) => !file.startsWith("tests/support/") && !file.includes("/site-packages/"));
    assert.ok(
      inside.some((file) => file.startsWith("runners/kit/python/mlrb_kit/")),
      "the kit at least",
    );
    const digested = new Set(imports.of(script));
    assert.deepEqual(
      inside.filter((file) => !digested.has(file)),
      [],
    );
  });
}

const users = Map.groupBy(
  scripts.flatMap((script) => imports.of(script).map((file) => ({ file, script }))),
  ({ file }) => file,
);

test("every module of scorers/library is in the key of some script", () => {
  const modules = globSync("scorers/library/scorer_library/**/*.py", { cwd: repository });
  assert.ok(modules.length > 25);
  const inNoKey = [
    /\/lm_eval\/command\.py$/, // by hand only: lm-eval's own command, for comparison with scores
    /\/check_(model|submission)\.py$/, // in workspaces of agents (ADR 45)
  ];
  const unused = modules.filter((file) => !users.has(file) && !inNoKey.some((name) => name.test(file)));
  assert.deepEqual(unused, []);
});

test("the modules that check Lean are only in the keys of the Lean scorers", () => {
  const lean = users.get("scorers/library/scorer_library/lean/check.py")!;
  assert.deepEqual(
    [...new Set(lean.map(({ script }) => script.split("/")[1]))],
    ["lean-compiles", "lean-faithful", "lean3-compiles"],
  );
});
