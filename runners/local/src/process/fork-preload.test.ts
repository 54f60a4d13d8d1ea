import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { home, smallPlan } from "../testing/small-plan.ts";
import { forkPreload } from "./fork-preload.ts";

const onlyStage = "from mlrb_kit.stage import read_stage\n\nread_stage()\n";

test("a script that imports nothing but its stage does not wait for the imports of others", (t) => {
  const at = home(t);
  at.write("ml.preload.py", "import torch\n");
  const preload = (source: string) => {
    at.write("script.py", source);
    const plan = smallPlan({ name: "a", action: { run: { kind: "python", file: "script.py" } } });
    return forkPreload(plan.instances[0]!, { repository: at.root, lock: "ml.lock" });
  };
  assert.equal(preload(onlyStage), undefined);
  const others = ["import torch", "    import torch", "from mlrb_kit.stage import Stage, read_stage"];
  for (const other of others)
    assert.equal(preload(`${onlyStage}${other}\n`), join(at.root, "ml.preload.py"), other);
});
