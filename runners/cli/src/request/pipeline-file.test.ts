import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { parseSet, pipelineFile } from "./request.ts";

const above = realpathSync(mkdtempSync(join(tmpdir(), "pipeline-file-")));
after(() => rmSync(above, { recursive: true }));
const repository = join(above, "repository");
mkdirSync(join(repository, "pipelines/more"), { recursive: true });
for (const path of [
  "evil.ts",
  "evil.yaml",
  "repository-2/evil.yaml",
  "repository/pipelines/own.yaml",
  "repository/pipelines/scripted.ts",
  "repository/pipelines/more/below.yaml",
  "repository/..odd.yaml",
]) {
  mkdirSync(join(above, path, ".."), { recursive: true });
  writeFileSync(join(above, path), "");
}
symlinkSync(join(above, "evil.ts"), join(repository, "pipelines/linked.ts"));
symlinkSync(above, join(repository, "pipelines/folder"));
symlinkSync("own.yaml", join(repository, "pipelines/alias.yaml"));

const found = (typed: string) => pipelineFile(repository, typed, sourceFiles(repository));

/** From the folder where the tests run, which is not the repository. */
const typedHere = (path: string) => relative(process.cwd(), join(above, path));

test("a pipeline is found by its name, and by a path from here, from the repository's root or from the disk's", () => {
  for (const [typed, file] of [
    ["own", "pipelines/own.yaml"],
    ["scripted", "pipelines/scripted.ts"],
    ["pipelines/own.yaml", "pipelines/own.yaml"],
    ["./pipelines/../pipelines/scripted.ts", "pipelines/scripted.ts"],
    ["pipelines/more/below.yaml", "pipelines/more/below.yaml"],
    ["pipelines/alias.yaml", "pipelines/alias.yaml"],
    [join(repository, "pipelines/own.yaml"), "pipelines/own.yaml"],
    [typedHere("repository/pipelines/own.yaml"), "pipelines/own.yaml"],
    ["..odd.yaml", "..odd.yaml"],
  ] as const)
    assert.equal(found(typed), file, typed);
});

test("a path that leads out of the repository is refused, by dots, from the root or through links", () => {
  for (const typed of [
    "../evil.ts",
    "../evil.yaml",
    "pipelines/../../evil.ts",
    "../repository-2/evil.yaml",
    join(above, "evil.ts"),
    typedHere("evil.ts"),
    "pipelines/linked.ts",
    "pipelines/folder/evil.yaml",
    `file://${join(above, "evil.ts")}`,
    "..\\evil.ts",
    "../evil.ts\0.yaml",
    "pipelines/",
    "/dev/stdin.yaml",
    `pipelines/${"a".repeat(5000)}.yaml`,
    "pipelines/*.yaml",
  ])
    assert.equal((found(typed) as { code?: string }).code, "unknown-file", typed);
});

test("a name of any form is looked up among the repository's pipelines only", () => {
  for (const typed of ["__proto__", "..", "*", "own*", "a".repeat(5000), "own\0", "\u001b[2J<script>"])
    assert.equal((found(typed) as { code?: string }).code, "unknown-pipeline", typed);
});

test("an axis called __proto__ is an axis like others", () => {
  assert.deepEqual(Object.entries(parseSet(["task=a,__proto__=b,constructor=c"])), [
    ["task", ["a"]],
    ["__proto__", ["b"]],
    ["constructor", ["c"]],
  ]);
});
