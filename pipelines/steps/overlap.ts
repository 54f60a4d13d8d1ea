// How much of the scored rows occurs in what an attempt held: its workspace, its conversation and its
// submission. Counts and places, never a text.
//   node pipelines/steps/overlap.ts --param "measure=$JSON" --input public=DIR --input private=DIR \
//     --input trajectory=FILE --input submission=DIR [--input workspace=DIR] [--input attachments=DIR] \
//     --output overlap=FILE
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureOverlap } from "@mlrb/agents/overlap/measure-overlap";
import { overlapMeasure } from "@mlrb/formats/judged/overlap";
import { mustFollow } from "@mlrb/formats/read-format";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const measure = mustFollow(overlapMeasure, params.measure, "measure of the pipeline's overlap stage");
const found = await measureOverlap(
  {
    workspace: "workspace" in inputs ? inputs.workspace : undefined,
    attachments: "attachments" in inputs ? inputs.attachments : undefined,
    submission: inputs.submission!,
    trajectory: inputs.trajectory!,
  },
  { private: inputs.private!, public: inputs.public! },
  { measure, scratch: mkdtempSync(join(tmpdir(), "overlap-")) },
);
writeJson(outputs.overlap!, found);
console.log(`${found.rows.found} of ${found.rows.tested} tested rows found`);
