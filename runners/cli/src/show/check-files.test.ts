import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { filesChecked } from "./check-files.ts";

async function problemsOf(t: TestContext, files: Record<string, string>, name: string): Promise<string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-check-")));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { problems } = await filesChecked(root, [name], new Consulted(root));
  return problems.map(({ code, place }) => `${place?.file}:${place?.line} ${code}`);
}

const parent = `formatVersion: 1
name: parent
profiles:
  a: {}
  b: { executor: dockr }
stages: { one: { command: "true" } }
`;

test("inherited profiles of a pipeline are checked like its own", async (t) => {
  const child = "formatVersion: 1\nname: child\nextends: parent\nprofiles: { own: { default: true } }\n";
  const files = { "pipelines/parent.yaml": parent, "pipelines/child.yaml": child };
  assert.deepEqual(await problemsOf(t, files, "child"), ["pipelines/parent.yaml:5 unknown-executor"]);
});

test("a pipeline whose profiles all come from its parent needs no default to be checked", async (t) => {
  const child = "formatVersion: 1\nname: child\nextends: parent\n";
  const files = {
    "pipelines/parent.yaml": parent.replace("dockr", "docker"),
    "pipelines/child.yaml": child,
  };
  assert.deepEqual(await problemsOf(t, files, "child"), []);
});

test("a profile that leaves the model to each run is checked with one, so other mistakes in it are found", async (t) => {
  const files = (executor: string) => ({
    "runners/agents/presets/any.yaml":
      "formatVersion: 1\nname: any\ntitle: Any\nkind: llm\nmodel: { contextTokens: 1000 }\n",
    "pipelines/p.yaml": `formatVersion: 1
name: p
axes: { agent: [any] }
profiles: { own: { executor: ${executor} } }
stages: { one: { each: [agent], command: "echo {agent.title}" } }
`,
  });
  assert.deepEqual(await problemsOf(t, files("local"), "p"), []);
  assert.deepEqual(await problemsOf(t, files("dockr"), "p"), [
    "pipelines/p.yaml:4 unknown-executor",
    "runners/agents/presets/any.yaml:5 no-model",
  ]);
});
