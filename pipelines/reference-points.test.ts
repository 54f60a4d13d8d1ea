import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { parse } from "yaml";

const repository = join(import.meta.dirname, "..");

test("each model of agent-eval's reference points and its text are downloaded and reach one stage, by default with a GPU", () => {
  const loaded = loadPlan(
    { file: "pipelines/reference-points.yaml", profile: undefined, set: {}, executor: undefined },
    sourceFiles(repository),
    ["local"],
  );
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
