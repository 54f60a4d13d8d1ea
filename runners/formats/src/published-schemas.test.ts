import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import { admission } from "./admission.ts";
import { agentPreset } from "./agent-preset.ts";
import { iterationsFile } from "./iterations.ts";
import { ledgerFile } from "./ledger.ts";
import { pipelineFile } from "./pipeline.ts";
import { report } from "./report.ts";
import { score } from "./score.ts";
import { scorerManifest } from "./scorer.ts";
import { stageContext } from "./stage-context.ts";
import { taskManifest } from "./task.ts";
import { trajectoryLine } from "./trajectory.ts";
import { verdict } from "./verdict.ts";

const folder = join(import.meta.dirname, "../../../pipelines");
const schemas = {
  pipeline: pipelineFile,
  task: taskManifest,
  scorer: scorerManifest,
  agent: agentPreset,
  score,
  verdict,
  admission,
  report,
  trajectory: trajectoryLine,
  ledger: ledgerFile,
  "stage-context": stageContext,
  iterations: iterationsFile,
};

for (const [name, schema] of Object.entries(schemas)) {
  test(`pipelines/${name}.schema.json, which editors check with, is the schema that is checked here`, () => {
    const path = join(folder, `${name}.schema.json`);
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
    assert(existsSync(path), "UPDATE_GOLDEN=1 writes it");
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), JSON.parse(JSON.stringify(schema)));
  });

  test(`the schema of a ${name} is one by JSON Schema's own rules, since nothing asks when it is used`, () => {
    const ajv = new Ajv({ strict: false });
    assert.equal(ajv.validateSchema(schema), true, ajv.errorsText());
  });
}
