// What lets the next run end at once while nothing changes: the files that the run consulted and published, and
// what of this machine everything rests on.
import { isDeepStrictEqual } from "node:util";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { rememberUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { environmentKey, environmentPath, environmentPython } from "@mlrb/local/process/environments";
import { findPython } from "@mlrb/local/process/find-python";
import { thinnedFileName } from "@mlrb/local/records/thinned-files";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Deciding } from "../gates/gate.ts";
import type { Request } from "../request/request.ts";
import type { RunCommandOptions, RunInvocation } from "../request/run-invocation.ts";
import type { RunSummary } from "./run-summary.ts";
import type { RunTally } from "./run-tally.ts";
import { reusedLines } from "./stage-lines.ts";

type Decided = {
  invocation: RunInvocation;
  consulted: Consulted;
  request: Pick<Request, "plan" | "selected">;
  gate: Deciding;
  options: RunCommandOptions;
};

type Ended = { results: (Result | undefined)[]; tally: RunTally };

/** Lets the next run end at once while nothing changes, if this one left nothing to do. `files`: what it published. */
export function rememberNoOp(
  { invocation, consulted, request: { plan, selected }, gate, options }: Decided,
  { results, tally: { counts } }: Ended,
  { summary, files }: { summary: RunSummary; files: string[] },
): void {
  const isWhole = counts.reused + counts.succeeded === selected.length;
  if (!isWhole || gate.stale.kind === "accept") return;
  rememberUnchanged(invocation, {
    consulted,
    more: [...files, ...restsOn(plan, results, gate.workspace)],
    files: gate.workspace.digests,
    isCurrent: () => areCurrent(results, gate.workspace),
    said: {
      ...summary,
      counts: { ...counts, succeeded: 0, reused: selected.length },
      lines: options.json ? reusedLines(plan, selected) : "",
    },
  });
}

/** Whether a run would still use the records that this one used: others, and choices, may have arrived meanwhile. */
function areCurrent(results: (Result | undefined)[], { attempts }: Workspace): boolean {
  attempts.refresh();
  return results.every((result) => {
    if (!result?.record) return true;
    const { digest, record, decisions } = result.record;
    const search = attempts.search(record.attemptKey, record.slot);
    if (search.kind !== "found" || search.held.digest !== digest || search.undecided.length > 0) return false;
    return isDeepStrictEqual(search.held.decisions, decisions);
  });
}

/** What outside the repository must stay as it is for everything to be reused again. */
function restsOn(plan: Plan, results: (Result | undefined)[], workspace: Workspace): string[] {
  const { state } = workspace;
  const environments = plan.instances
    .filter(({ stage }) => stage.name === environmentStage)
    .map(({ action }) => environmentPath(state, environmentKey(String(action.params.lock), workspace)));
  const python = environments.length > 0 ? findPython(state.memory)?.path : undefined;
  return [
    ...environments.flatMap((path) => [`${path}/ready.json`, environmentPython(path)]),
    ...(python ? [python] : []),
    ...["records", "origins", "choices.jsonl", "adjudications.jsonl", thinnedFileName].map(
      (name) => `${state.attempts}/${name}`,
    ),
    ...results.flatMap((result) =>
      result?.record ? [`${state.attempts}/records/${result.record.digest}/record.json`] : [],
    ),
    // another run since then may have published more files, and last successes that a report collects
    workspace.last.file,
    `${state.state}/format.json`,
  ];
}
