// How long one waits for the commands that only look, at the size of the whole benchmark: 218 instances, all run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipelineText } from "./bench-graphs.ts";
import { median, run, type TellRow } from "./bench-tools.ts";

const tasks = 7;
const size = tasks * 31 + 1;
const times = 7;
const allowedSeconds = 0.25;

/** `work` is for the state, `pipelines` for a pipeline of its own. */
export function benchLooking({
  work,
  pipelines,
  row,
}: {
  work: string;
  pipelines: string;
  row: TellRow;
}): void {
  const name = "bench-looking";
  const file = join(pipelines, `${name}.yaml`);
  const root = ["--root", join(work, name)];
  writeFileSync(file, pipelineText(name, tasks, 0));
  const pipeline = (...words: string[]) =>
    run(process.execPath, ["--max-semi-space-size=1", "runners/cli/bin/pipeline.js", ...words]);
  pipeline("run", file, ...root, "--json");
  const stage = JSON.parse(pipeline("plan", file, ...root, "--json").split("\n")[0]!).stage;
  for (const [what, words] of Object.entries({
    [`status, ${size} instances`]: ["status", file, ...root],
    [`explain, ${size} instances`]: ["explain", stage, "--pipeline", file, ...root],
    "list, this repository": ["list"],
    "check, this repository": ["check"],
  })) {
    const seconds = Array.from({ length: times + 1 }, () => {
      const begin = performance.now();
      pipeline(...words);
      return (performance.now() - begin) / 1000;
    }).slice(1); // the first leaves behind what the others find
    row(what, median(seconds), {
      against: `the ${allowedSeconds} s that are allowed`,
      other: allowedSeconds,
      target: 1,
    });
  }
}
