// Renders the prompts of the real package (its environment is built once, with a network).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { taskManifest } from "@mlrb/formats/declared/task";
import { mustFollow } from "@mlrb/formats/read-format";
import { pythonPath } from "@mlrb/kit/python-path";
import { parse } from "yaml";
import { ensureEnvironment } from "../../scripts/ensure-environment.ts";

const repository = join(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "mlrb-official-prompt-"));
after(() => rmSync(root, { recursive: true }));
const python = await ensureEnvironment("pipelines/environments/official-tasks.lock");

const tasks = readdirSync(join(repository, "tasks"), { withFileTypes: true })
  .map(({ name }) => join(repository, "tasks", name, "task.yaml"))
  .flatMap((file) => {
    const text = read(file);
    return text === undefined ? [] : [mustFollow(taskManifest, parse(text), file)];
  });

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function render(name: string, sha256: string) {
  const at = mkdtempSync(join(root, "task-"));
  const flags = ["--param", `name=${name}`, "--param", `sha256=${sha256}`];
  const outputs = [
    "--output",
    `prompt=${join(at, "prompt.md")}`,
    "--output",
    `starter=${join(at, "starter")}`,
  ];
  const { status, stderr } = spawnSync(
    python,
    [join(repository, "pipelines/steps/official_prompt.py"), ...flags, ...outputs],
    { cwd: repository, encoding: "utf8", env: { ...process.env, PYTHONPATH: pythonPath(repository) } },
  );
  const files = () =>
    readdirSync(join(at, "starter"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(at, "starter").length + 1))
      .sort();
  return { status, stderr, files, prompt: () => readFileSync(join(at, "prompt.md"), "utf8") };
}

test("each task pins the digest of the prompt that the locked package renders, and all seven differ", () => {
  const prompts = tasks.map(({ officialName, promptDigest }) => {
    const made = render(officialName!, promptDigest!.official!);
    assert.equal(made.status, 0, made.stderr);
    assert.doesNotMatch(made.prompt(), /\{\{/, "double braces would be blanks of ours");
    return made.prompt();
  });
  assert.equal(new Set(prompts).size, 7);
  assert.deepEqual(new Set(tasks.map(({ promptDigest }) => promptDigest!.smoke)), new Set([""]));
});

test("each task with a mini prompt pins the digest that the locked package renders, and all six differ", () => {
  const mini = tasks.flatMap((task) => {
    const pinned = task.promptDigest!.mini;
    return pinned === undefined ? [] : [render(`mini_${task.officialName}`, pinned)];
  });
  for (const { status, stderr } of mini) assert.equal(status, 0, stderr);
  assert.equal(new Set(mini.map(({ prompt }) => prompt())).size, 6);
  for (const { prompt } of mini) assert.match(prompt(), /30 million parameter GPT-2|MiniPile|llm_merging/);
});

test("the mini package has no text for three of its folders, so no task can pin one", () => {
  for (const name of ["edge_llm_training", "budget_model_training", "budget_model_inference"]) {
    const made = render(`mini_${name}`, "0".repeat(64));
    assert.equal(made.status, 1);
    assert.match(made.stderr, new RegExp(`has no task mini_${name}: .*not found in retrieved tasks`));
  }
});

test("the starter files of LLM Merging lie in the folder that its prompt names", () => {
  const { officialName, promptDigest } = tasks.find(({ name }) => name === "llm-merging")!;
  const made = render(officialName!, promptDigest!.official!);
  assert.match(made.prompt(), /llm_merging\/merging\/LlamaAvg\.py/);
  const files = made.files();
  for (const file of ["README.md", "main.py", "merging/LlamaAvg.py", "merging/FlanT5Avg.py"])
    assert.ok(files.includes(`llm_merging/${file}`), files.join(", "));
});

test("another digest than the pinned one fails with both digests, and so does a name that the package lacks", () => {
  const pinned = "0".repeat(64);
  const other = render("baby_lm", pinned);
  assert.equal(other.status, 1);
  const { official } = tasks.find(({ name }) => name === "baby-lm")!.promptDigest!;
  assert.match(
    other.stderr,
    new RegExp(`0\\.0\\.23 renders another prompt of baby_lm .*SHA-256 ${official}, pinned ${pinned}\\.`),
  );
  assert.match(other.stderr, /write its digest into promptDigest; attempts then become stale/);
  const missing = render("no_such_task", pinned);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /has no task no_such_task: .*see officialName in task\.yaml/);
});
