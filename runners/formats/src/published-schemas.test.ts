import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv } from "ajv";
import { iterationsFile } from "./attempt/iterations.ts";
import { ledgerFile } from "./attempt/ledger.ts";
import { trajectoryLine } from "./attempt/trajectory.ts";
import { agentPreset } from "./declared/agent-preset.ts";
import { pipelineFile } from "./declared/pipeline.ts";
import { rubricFile } from "./declared/rubric.ts";
import { scorerManifest } from "./declared/scorer.ts";
import { sourceManifest } from "./declared/source.ts";
import { sourceLock } from "./declared/source-lock.ts";
import { taskManifest } from "./declared/task.ts";
import { admission } from "./judged/admission.ts";
import { calibration } from "./judged/calibration.ts";
import { causality } from "./judged/causality.ts";
import { identity } from "./judged/identity.ts";
import { memorisation } from "./judged/memorisation.ts";
import { memory } from "./judged/memory.ts";
import { score } from "./judged/score.ts";
import { verdict } from "./judged/verdict.ts";
import { frozenProtocol, protocolResult } from "./report/protocol.ts";
import { resultTables } from "./report/result-tables.ts";
import { report } from "./report.ts";
import { stageContext } from "./stage/stage-context.ts";

const folder = join(import.meta.dirname, "../../../pipelines");
const schemas = {
  pipeline: pipelineFile,
  task: taskManifest,
  scorer: scorerManifest,
  agent: agentPreset,
  source: sourceManifest,
  rubric: rubricFile,
  "source-lock": sourceLock,
  score,
  verdict,
  admission,
  calibration,
  causality,
  memorisation,
  identity,
  memory,
  report,
  protocol: frozenProtocol,
  "protocol-departures": protocolResult,
  "result-tables": resultTables,
  trajectory: trajectoryLine,
  ledger: ledgerFile,
  "stage-context": stageContext,
  iterations: iterationsFile,
};

for (const [name, schema] of Object.entries(schemas)) {
  test(`pipelines/${name}.schema.json is the schema that the program checks with`, () => {
    const path = join(folder, `${name}.schema.json`);
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
    assert(existsSync(path), "UPDATE_GOLDEN=1 writes it");
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), JSON.parse(JSON.stringify(schema)));
  });

  test(`the schema of a ${name} is a valid JSON Schema`, () => {
    const ajv = new Ajv({ strict: false });
    assert.equal(ajv.validateSchema(schema), true, ajv.errorsText());
  });
}
