import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "./command-line.ts";
import { v8Flags } from "./node-flags.ts";
import { type Permissions, refusalTexts } from "./permissions.ts";

const permissions: Permissions = {
  reads: ["/r/a.ts", "/w"],
  writes: ["/w"],
  lists: [],
  network: false,
  programs: false,
  root: "/r",
  guard: "/g/stage-guard.ts",
  refusals: "/w/refusals.jsonl",
};
const request = { run: { kind: "script", file: "a.ts" }, root: "/r", inputs: {}, outputs: {} } as const;

test("a script starts under Node's permission model with exactly what it declares", () => {
  const words = commandLine({ ...request, permissions }, "node");
  assert.ok(words.includes("--permission"));
  assert.ok(words.includes("--allow-fs-read=/r/a.ts") && words.includes("--allow-fs-write=/w"));
  assert.equal(words.at(-1), "/r/a.ts");
  const broad = ["--allow-net", "--allow-child-process", "--allow-worker", "--allow-addons", "--allow-wasi"];
  assert.deepEqual(
    words.filter((word) => broad.includes(word)),
    [],
  );
  const allowed = commandLine(
    { ...request, permissions: { ...permissions, network: true, programs: true } },
    "node",
  );
  assert.deepEqual(
    allowed.filter((word) => broad.includes(word)),
    broad,
  );
  assert.ok(!commandLine(request, "node").includes("--permission"));
});

test("a script starts with the flags that prevent a process from waiting forever for its compilers", () => {
  for (const words of [commandLine(request, "node"), commandLine({ ...request, permissions }, "node")])
    for (const flag of v8Flags)
      assert.ok(words.indexOf(flag) > 0 && words.indexOf(flag) < words.indexOf("/r/a.ts"));
});

test("each refusal is reported once, with the stage's place and a line that extends its own files", () => {
  const by = { stage: "score", place: { file: "pipelines/p.yaml", line: 7 }, files: ["a.json"] };
  const inside = (path: string) => (path.startsWith("/else") ? undefined : path.replace("/r/", ""));
  const texts = refusalTexts(
    [
      { kind: "read", resource: "/r/b c.json" },
      { kind: "read", resource: "b c.json" },
      { kind: "read", resource: "/else/x" },
      { kind: "list", resource: "/r/d" },
      { kind: "program", resource: "git" },
    ],
    { ...by, programs: "{scorer.programs}" },
    inside,
  );
  const here = 'in pipelines/p.yaml:7, stage "score"';
  assert.deepEqual(texts, [
    {
      what: 'stage "score" reads b c.json, which it does not declare',
      help: `${here}, write \`files: [a.json, "b c.json"]\``,
    },
    {
      what: 'stage "score" reads /else/x, which it does not declare',
      help: "it is outside the repository: add a stage that outputs it and list that under `needs`, or copy it into the repository",
    },
    {
      what: 'stage "score" lists the folder d, which it does not declare',
      help: `${here}, write \`files: [a.json, "d/**"]\``,
    },
    {
      what: 'stage "score" starts a program (git), which it does not declare',
      help: `${here}, \`programs:\` is {scorer.programs}: write \`programs: true\` in the manifest that it is read from`,
    },
  ]);
});
