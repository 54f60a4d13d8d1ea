// Runs an attempt that branches from another one. No pipeline plans it: in the plan that planned its parent, the parent's
// instance is replaced by the branch. So a run makes its inputs, asks for its cost and keeps its record as for any attempt.
import { actionKey } from "@mlrb/core/key/action-key";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { type Branch, branchName } from "@mlrb/formats/stage/branch";
import { processName } from "@mlrb/kit/processes/process-name";
import { branchStage } from "@mlrb/local/attempts/branch-attempt";
import { bind } from "@mlrb/local/decide/bind-inputs";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Workspace } from "@mlrb/local/store/workspace";
import { axesSet } from "../request/axes-set.ts";
import { parseJobs } from "../request/parse-jobs.ts";
import { refuse } from "../request/refuse.ts";
import type { Request } from "../request/request.ts";
import { rootFolder } from "../request/root-folder.ts";
import type { RunCommandOptions } from "../request/run-invocation.ts";
import { runChanged } from "../run/run-changed.ts";

type OfAttempt = Pick<AttemptCard, "slot" | "axes" | "parts">;

/** `card`: of the parent, or of the branch itself. `begin`: called once a person has agreed to the cost. */
export async function runBranch(
  repository: string,
  { card, branch, begin }: { card: OfAttempt; branch: Branch; begin?: () => Diagnostic | undefined },
  options: Omit<RunCommandOptions, "only" | "set" | "profile">,
): Promise<number> {
  const jobs = parseJobs(options.jobs);
  if (typeof jobs === "object") return refuse([jobs], options.json);
  const { pipeline, profile } = card.slot;
  const stage = unbranched(card.slot.stage);
  const invocation = {
    repository,
    root: rootFolder(repository, options.root),
    request: ["branch", processName],
  };
  return runChanged(invocation, {
    ...{ pipeline, jobs, begin: performance.now() },
    options: { ...options, profile, only: [stage], set: axesSet([card]) },
    change: {
      plan: (request, workspace) => withBranch(request, workspace, { card, branch, stage }),
      ...(begin && { begin }),
    },
  });
}

const unbranched = (stage: string) => stage.replace(/,branch=[^\],]*(?=\]$)/, "");

async function withBranch(
  { plan, selected, ...request }: Request,
  workspace: Workspace,
  { card, branch, stage }: { card: OfAttempt; branch: Branch; stage: string },
): Promise<Request | Diagnostic> {
  const instance = plan.instances.find(({ id }) => id === stage);
  if (!instance) return differs(stage, `${plan.pipeline} ${plan.profile} does not plan it any more`);
  const { results } = await previewPlan(plan, selected, { workspace, stale: { kind: "leave" } });
  if (instance.inputs.some(({ from }) => results[from] === undefined))
    return differs(stage, "its inputs are not in the cache, or were made from other files");
  const { key } = await bind(instance, { plan, workspace, results });
  const { branch: _, ...parts } = card.parts;
  if (key !== actionKey(parts))
    return differs(stage, "a file, a parameter or an input differs from those with which it began");
  const own = {
    ...instance,
    id: branchStage(stage, branch),
    axes: { ...instance.axes, branch: branchName(branch) },
    branch,
  };
  return { ...request, selected, plan: { ...plan, instances: plan.instances.with(instance.index, own) } };
}

function differs(stage: string, why: string): Diagnostic {
  return {
    code: "other-inputs",
    message: `${stage} cannot be branched: ${why}.`,
    help: "restore what differs, and run the pipeline with --only for its inputs; `pnpm pipeline explain` names what differs",
  };
}
