// The time of read-only commands at the size of the whole benchmark: 218 instances, all of which have run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipelineText } from "./bench-graphs.ts";
import { type Bench, medianSeconds, pipeline } from "./bench-tools.ts";

const tasks = 7;
const size = tasks * 31 + 1;
const times = 7;
const allowedSeconds = 0.25;

/** `work` holds the state; `pipelines` gets the pipeline's file. */
export async function benchLooking({ work, pipelines, row }: Bench & { pipelines: string }): Promise<void> {
  const name = "bench-looking";
  const file = join(pipelines, `${name}.yaml`);
  const root = ["--root", join(work, name)];
  writeFileSync(file, pipelineText(name, tasks, 0));
  pipeline("run", file, ...root, "--json");
  const stage = JSON.parse(pipeline("plan", file, ...root, "--json").split("\n")[0]!).stage;
  for (const [what, words] of Object.entries({
    [`status, ${size} instances`]: ["status", file, ...root],
    [`explain, ${size} instances`]: ["explain", stage, "--pipeline", file, ...root],
    "list, this repository": ["list"],
    "check, this repository": ["check"],
  })) {
    pipeline(...words); // fills the caches that later calls read
    row(what, await medianSeconds(times, () => pipeline(...words)), {
      against: `the allowed ${allowedSeconds} s`,
      other: allowedSeconds,
      target: 1,
    });
  }
}
