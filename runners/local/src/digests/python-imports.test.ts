import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted } from "../decide/consulted-files.ts";
import { PythonImports } from "./python-imports.ts";

function scene(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-imports-"));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const consulted = new Consulted(root);
  const open = (folders = ["runners/kit/python"]) =>
    new PythonImports({
      root,
      folders,
      memory: root,
      consulted,
      digestOf: (path) => {
        try {
          return readFileSync(join(root, path), "utf8");
        } catch {
          return "missing";
        }
      },
    });
  return { write, open, consulted };
}

const kit = "runners/kit/python/mlrb_kit";

test("a script's files are its direct and indirect imports, with packages on the way, from its folder and the kit's", (t) => {
  const { open } = scene(t, {
    "s/run.py": "import json, helper\nfrom pack.deep import name, other\nfrom mlrb_kit.ratio import ratio\n",
    "s/helper.py": "def f():\n    import late\n",
    "s/late.py": "",
    "s/unused.py": "",
    "s/pack/__init__.py": "",
    "s/pack/deep/__init__.py": "from . import sibling\nfrom .. import above\n",
    "s/pack/deep/other.py": "",
    "s/pack/deep/sibling.py": "import sys",
    "s/pack/above.py": "from .deep.sibling import *",
    [`${kit}/__init__.py`]: "",
    [`${kit}/ratio.py`]: "from mlrb_kit import shared",
    [`${kit}/shared.py`]: "syntax error here",
    "s/json.py.txt": "",
  });
  assert.deepEqual(open().of("s/run.py").sort(), [
    `${kit}/__init__.py`,
    `${kit}/ratio.py`,
    `${kit}/shared.py`,
    "s/helper.py",
    "s/late.py",
    "s/pack/__init__.py",
    "s/pack/above.py",
    "s/pack/deep/__init__.py",
    "s/pack/deep/other.py",
    "s/pack/deep/sibling.py",
    "s/run.py",
  ]);
});

test("a remembered script notices a new import, and a new file that comes before an imported one", (t) => {
  const { open, write, consulted } = scene(t, {
    "s/run.py": "import helper\nimport torch\n",
    "s/helper.py": "",
  });
  assert.deepEqual(open().of("s/run.py"), ["s/run.py", "s/helper.py"]);
  assert.equal(consulted.files.get("s/torch.py"), "missing", "the short way looks for it too");
  write("s/helper.py", "import more");
  write("s/more.py", "");
  assert.deepEqual(open().of("s/run.py").sort(), ["s/helper.py", "s/more.py", "s/run.py"]);
  write("s/torch.py", "shadows = True");
  assert.deepEqual(open().of("s/run.py").sort(), ["s/helper.py", "s/more.py", "s/run.py", "s/torch.py"]);
});

test("a declared folder is searched after the script's folder and the kit, and only its imported files count", (t) => {
  const { open } = scene(t, {
    "s/run.py": "from shared_library.deep import wanted\nimport helper\n",
    "s/helper.py": "",
    "lib/helper.py": "never found",
    "lib/shared_library/__init__.py": "",
    "lib/shared_library/deep/__init__.py": "",
    "lib/shared_library/deep/wanted.py": "from mlrb_kit import ratio",
    "lib/shared_library/deep/other.py": "",
    [`${kit}/__init__.py`]: "",
    [`${kit}/ratio.py`]: "",
  });
  assert.deepEqual(open(["runners/kit/python", "lib"]).of("s/run.py").sort(), [
    "lib/shared_library/__init__.py",
    "lib/shared_library/deep/__init__.py",
    "lib/shared_library/deep/wanted.py",
    `${kit}/__init__.py`,
    `${kit}/ratio.py`,
    "s/helper.py",
    "s/run.py",
  ]);
});

test("imports remembered for other folders are computed again", (t) => {
  const { open } = scene(t, { "s/run.py": "import helper\n", "lib/helper.py": "" });
  assert.deepEqual(open().of("s/run.py"), ["s/run.py"]);
  assert.deepEqual(open(["runners/kit/python", "lib"]).of("s/run.py"), ["s/run.py", "lib/helper.py"]);
  assert.deepEqual(open().of("s/run.py"), ["s/run.py"]);
});
