// The edits of the guides: each diff applies to the file that it names, and the commands under Undo restore the checkout.
// tests/guides.e2e.test.ts follows the guides with their runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";

const repository = join(import.meta.dirname, "..");
const guides = ["add-a-task.md", "add-a-scorer.md", "add-an-agent.md", "how-reuse-works.md", "rescore.md"];
/** Files that every checkout has, so that no folder of a guide is new that is not. */
const present = [
  "tasks/baby-lm/task.yaml",
  "scorers/bits-per-byte/measure.py",
  "runners/agents/presets/reference.yaml",
];

for (const name of guides) {
  test(`${name}: its diffs apply to named files, and its last commands restore the checkout`, () => {
    const text = readFileSync(join(import.meta.dirname, name), "utf8");
    const checkout = mkdtempSync(join(tmpdir(), "mlrb-guide-"));
    try {
      const run = (command: string, input = "") =>
        execFileSync("bash", ["-euc", command], { cwd: checkout, input, encoding: "utf8" });
      for (const path of present) {
        mkdirSync(dirname(join(checkout, path)), { recursive: true });
        copyFileSync(join(repository, path), join(checkout, path));
      }
      run("git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm start");
      const before = run("find . -path ./.git -prune -o -print | sort");

      for (const [, path, content] of text.matchAll(/^```(?:yaml|python|ts|markdown) (\S+)\n(.*?)^```$/gms)) {
        mkdirSync(dirname(join(checkout, path!)), { recursive: true });
        writeFileSync(join(checkout, path!), content!);
      }
      for (const [, diff] of text.matchAll(/^```diff\n(.*?)^```$/gms)) {
        writeFileSync(join(checkout, "edit.diff"), diff!);
        run("git apply edit.diff");
      }
      assert.notEqual(run("git status --porcelain"), "", "the guide changes something");

      const [, undo] = text.match(/^## Undo\n\n```\n(.*?)^```$/ms)!;
      run(undo!);
      assert.equal(run("git status --porcelain"), "");
      assert.equal(run("find . -path ./.git -prune -o -print | sort"), before, "no empty folder stays");
    } finally {
      removeFolder(checkout);
    }
  });
}
