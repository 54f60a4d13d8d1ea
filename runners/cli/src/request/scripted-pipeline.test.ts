import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { seenBy } from "@mlrb/local/decide/stat-snapshot";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { readRequest } from "./request.ts";
import { withScripted } from "./scripted-pipeline.ts";

const repository = join(import.meta.dirname, "../../../..");
const options = { only: [], set: [], json: false };

function folderWith(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-scripted-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "pipelines"));
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(folder, file), text);
    utimesSync(join(folder, file), 1_000_000, 1_000_000);
  }
  return folder;
}

test("a run of a scripted pipeline never takes the no-op fast path", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 60_000 }); // files written just now are not remembered either
  const stages = 'stages: { make: { command: "one" } }';
  const at = folderWith(t, {
    "pipelines/made.ts": `export default { formatVersion: 1, name: "made", ${stages} };\n`,
    "pipelines/plain.yaml": `formatVersion: 1\nname: plain\n${stages}\n`,
  });
  const seen = async (pipeline: string) => {
    const consulted = new Consulted(at);
    assert.ok(await readRequest(at, pipeline, options, consulted));
    return seenBy(consulted);
  };
  assert.notEqual(await seen("plain"), undefined);
  assert.equal(await seen("made"), undefined);
});

test("a program that fails or has no default export is reported with its cause", async (t) => {
  const at = folderWith(t, {
    "pipelines/none.ts": "export const pipeline = {};\n",
    "pipelines/fails.ts": 'throw new Error("no such list");\n',
  });
  const messageOf = async (file: string) => {
    const found = await withScripted(at, file, sourceFiles(at));
    return "code" in found && found.message;
  };
  assert.equal(await messageOf("pipelines/none.ts"), "pipelines/none.ts: has no default export");
  assert.equal(await messageOf("pipelines/fails.ts"), "pipelines/fails.ts: cannot be loaded: no such list");
});

test("more-seeds is the full benchmark with other tasks and seeds", async () => {
  const planOf = async (pipeline: string, set: string[] = []) =>
    (await readRequest(repository, pipeline, { ...options, set }))!.plan;
  const [full, more] = [await planOf("full-benchmark", ["task=baby-lm"]), await planOf("more-seeds")];
  const scripts = ({ instances }: typeof full) =>
    [...new Set(instances.map(({ stage: { name, spec } }) => `${name} ${JSON.stringify(spec)}`))].sort();
  assert.deepEqual(scripts(more), scripts(full));
  const attempts = more.instances.filter(({ stage }) => stage.name === "attempt").map(({ axes }) => axes);
  assert.deepEqual([...new Set(attempts.map(({ task }) => task))], ["baby-lm"]);
  assert.deepEqual([...new Set(attempts.map(({ seed }) => seed))], [1, 2, 3, 4, 5, 6, 7, 8]);
});
