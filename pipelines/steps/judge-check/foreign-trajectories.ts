// Reads trajectories of others, with the labels beside them if there are any, for a judge to answer questions about.
//   node pipelines/steps/judge-check/foreign-trajectories.ts --axis rubric=NAME --param folder=DIR --output labelled=FILE
import { foreignTrajectories } from "@mlrb/agents/judge/check/foreign-trajectories";
import { readForeignTrajectory } from "@mlrb/agents/judge/extract/foreign-extract";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { axes, params, outputs } = stage();
const folder = sourceFolder(String(params.folder));
const found = await foreignTrajectories(folder, String(axes.rubric), readForeignTrajectory);
if (found.kind === "read") writeJson(outputs.labelled!, found.file);
else {
  console.error(found.causes.join("\n"));
  process.exitCode = 1;
}
