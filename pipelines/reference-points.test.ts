import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Sources } from "@mlrb/core/spec/manifest";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { parse, stringify } from "yaml";
import pipeline from "./reference-points.ts";

const repository = join(import.meta.dirname, "..");

test("each model of agent-eval's reference points and its text are downloaded and reach one stage, by default with a GPU", () => {
  const file = "pipelines/reference-points.yaml";
  const files = sourceFiles(repository);
  const sources: Sources = {
    read: (path) => (path === file ? stringify(pipeline) : files.read(path)),
    kind: (path) => files.kind(path),
    list: (folder) => files.list(folder),
  };
  const loaded = loadPlan({ file, profile: undefined, set: {}, executor: undefined }, sources, ["local"]);
  assert.ok(!("problems" in loaded), JSON.stringify(loaded));
  const { instances } = loaded.plan;
  const points = instances.find(({ stage }) => stage.name === "points")!;
  assert.equal(points.execution.resources.gpus, 1);
  const table = readFileSync(join(repository, "scorers/agent-eval/reference-points.yaml"), "utf8");
  assert.deepEqual(
    points.members.map(({ from }) => instances[from]!.axes.source),
    ["wikitext-2", ...Object.keys(parse(table) as object)],
  );
});
