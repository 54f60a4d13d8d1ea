// `pipeline run`: runs what changed and prints the results. This file holds the no-op fast path, which loads none
// of the code that plans and runs.
import { hostname } from "node:os";
import { saidUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { parseJobs } from "../request/parse-jobs.ts";
import { rootFolder, typedIn } from "../request/root-folder.ts";
import type { RunCommandOptions, RunInvocation } from "../request/run-invocation.ts";
import { printEnd, type RunSummary } from "../run/run-summary.ts";
import { isWatched } from "../watch/watcher-channel.ts";

export async function runCommand(
  repository: string,
  pipeline: string,
  options: RunCommandOptions,
): Promise<number> {
  const begin = performance.now();
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") {
    const { refuse } = await import("../request/refuse.ts");
    return refuse([jobs], options.json);
  }
  const { profile, only, set, executor, skipReferenceModels, acceptStale, json } = options;
  const asked: RunInvocation = {
    repository,
    root: rootFolder(repository, options.root),
    request: [
      {
        pipeline,
        from: /[/\\.]/.test(pipeline) ? typedIn() : "",
        profile,
        only,
        set,
        executor,
        skipReferenceModels,
        acceptStale,
        json,
      },
      process.env.MLRB_BASE_PYTHON ?? "",
      hostname(), // two machines that share a folder decide host-dependent stages separately
    ],
  };
  // a watcher needs the consulted files, which the fast path does not collect; an event command wants the run's
  // end
  const said = isWatched() || options.onEvent ? undefined : saidUnchanged<RunSummary>(asked);
  if (said) {
    process.stdout.write(said.lines);
    await printEnd(said, {
      root: asked.root,
      json,
      durationMs: Math.round(performance.now() - begin),
      asked: { pipeline, options },
    });
    return 0;
  }
  const { runChanged } = await import("../run/run-changed.ts");
  return runChanged(asked, { pipeline, options, jobs, begin });
}
