// The edits of the guides: each diff applies to the file that it names, what results follows its format, and the
// commands under Undo restore the checkout. tests/guides.e2e.test.ts follows the guides with their runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { pipelineFile } from "@mlrb/formats/declared/pipeline";
import { scorerManifest } from "@mlrb/formats/declared/scorer";
import { taskManifest } from "@mlrb/formats/declared/task";
import { mustFollow } from "@mlrb/formats/read-format";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parse } from "yaml";

const repository = join(import.meta.dirname, "..");
const guide = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const pages = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".md"));

/** What commands of a guide write into the checkout, apart from the files and diffs that the guide shows. */
const written: Record<string, string[]> = {
  "guide.md": ["protocols/full-benchmark/paper.json"],
  "paper.md": ["sources.lock.yaml", "protocols/full-benchmark/paper.json"],
};
/** Files that every checkout has, so that no folder of a guide is new that is not. */
const present = [
  "images/agent/Dockerfile",
  "pipelines/full-benchmark.yaml",
  "runners/agents/presets/script-strong.yaml",
  "scorers/bits-per-byte/measure.py",
  "sources.lock.yaml",
  "tasks/baby-lm/task.yaml",
];
const formats = [
  [/^runners\/agents\/presets\/.*\.yaml$/, agentPreset],
  [/^pipelines\/[^/]+\.yaml$/, pipelineFile],
  [/^scorers\/.*\/scorer\.yaml$/, scorerManifest],
  [/^tasks\/.*\/task\.yaml$/, taskManifest],
] as const;

const shownFiles = (text: string) => [
  ...text.matchAll(/^```(?:yaml|python|ts|markdown) (\S+)\n(.*?)^```$/gms),
];
const diffs = (text: string) => [...text.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff]) => diff!);
const changing = pages.filter((name) => {
  const text = guide(name);
  return name in written || shownFiles(text).length > 0 || diffs(text).length > 0;
});

test("the pages that change a checkout are the guides", () => {
  const guides = ["agents.md", "authors.md", "guide.md", "machines.md", "paper.md", "reuse.md"];
  assert.deepEqual(changing.toSorted(), guides);
});

test("guides change settings by whole files with their paths and by diffs, never by parts of a file", () => {
  for (const name of pages)
    for (const [, part] of guide(name).matchAll(/^```yaml\n(.*?)^```$/gms))
      assert.match(part!, /…/, `${name} shows a part of a file:\n${part}`); // a sketch that nobody can paste
});

for (const name of changing) {
  test(`${name}: its diffs apply to named files, and its last commands restore the checkout`, () => {
    const text = guide(name);
    const checkout = mkdtempSync(join(tmpdir(), "mlrb-guide-"));
    try {
      const write = (path: string, content: string) => {
        mkdirSync(dirname(join(checkout, path)), { recursive: true });
        writeFileSync(join(checkout, path), content);
      };
      const run = (command: string, input = "") =>
        execFileSync("bash", ["-euc", command], { cwd: checkout, input, encoding: "utf8" });
      const edited = diffs(text).map((diff) => diff.match(/^\+\+\+ b\/(\S+)$/m)![1]!);
      for (const path of [...present, ...edited]) {
        if (!existsSync(join(repository, path))) continue; // the guide makes it
        mkdirSync(dirname(join(checkout, path)), { recursive: true });
        copyFileSync(join(repository, path), join(checkout, path));
      }
      run("git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm start");
      // what its user has edited before stays; at the end of the file that no diff touches
      for (const path of edited.map((one) => join(checkout, one))) {
        if (!existsSync(path)) continue;
        const content = readFileSync(path, "utf8");
        writeFileSync(path, path.endsWith(".yaml") ? `# mine\n${content}` : `${content}\n# mine\n`);
      }
      const mine = run("git diff");
      const before = run("find . -path ./.git -prune -o -print | sort");

      const shown = shownFiles(text);
      for (const [, path, content] of shown) write(path!, content!);
      const all = diffs(text);
      for (const [index, diff] of all.entries()) {
        const file = all.length === 1 ? "edit.diff" : `edit-${index + 1}.diff`;
        writeFileSync(join(checkout, file), diff);
        run(`git apply ${file}`);
      }
      for (const path of written[name] ?? []) write(path, "written by a command\n");
      assert.notEqual(run("git diff; git status --porcelain -u"), mine, "the guide changes something");
      for (const path of [...shown.map(([, shownPath]) => shownPath!), ...edited]) {
        const format = formats.find(([pattern]) => pattern.test(path))?.[1];
        if (format) mustFollow(format, parse(readFileSync(join(checkout, path), "utf8")), path);
      }

      const undo = text.match(/^## Undo\n\n```\n(.*?)^```$/ms)?.[1];
      assert.ok(undo, "the guide has commands under Undo");
      run(undo);
      assert.equal(run("git diff"), mine);
      assert.equal(run("find . -path ./.git -prune -o -print | sort"), before, "no empty folder stays");
    } finally {
      removeFolder(checkout);
    }
  });
}
