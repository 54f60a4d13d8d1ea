// `pipeline plan`: what a run would do, and why. Runs nothing.
import { reasonWords } from "@mlrb/core/reasons";
import { formatDuration } from "@mlrb/core/units";
import { previewPlan } from "@mlrb/local/preview-plan";
import { openWorkspace } from "@mlrb/local/workspace";
import { type CommonOptions, readRequest } from "./request.ts";

export async function planCommand(
  repository: string,
  pipeline: string,
  options: CommonOptions,
): Promise<number> {
  const begin = performance.now();
  const request = readRequest(repository, pipeline, options);
  if (!request) return 2;
  const { plan, selected, root } = request;
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const previews = await previewPlan(plan, selected, workspace);
  const actions = { run: 0, reuse: 0, stale: 0 };
  let expectedMs = 0;
  let unknown = 0;
  for (const { index, action, certain, reasons, expectedMs: expected } of previews) {
    const { id, stage } = plan.instances[index]!;
    actions[action]++;
    if (action === "run") {
      expectedMs += expected ?? 0;
      if (expected === undefined) unknown++;
    }
    if (options.json) {
      const line = {
        event: "stage",
        stage: id,
        name: stage.name,
        action,
        certain,
        reasons,
        expectedMs: expected,
      };
      process.stdout.write(`${JSON.stringify(line)}\n`);
    } else {
      const verb = action === "reuse" ? "reuse" : certain ? "run  " : "run ?";
      process.stdout.write(`${verb}  ${id}  (${reasons.map(reasonWords).join("; ")})\n`);
    }
  }
  const durationMs = Math.round(performance.now() - begin);
  if (options.json) {
    const line = { event: "summary", pipeline: plan.pipeline, profile: plan.profile, actions, durationMs };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return 0;
  }
  const work = expectedMs > 0 ? `, about ${formatDuration(expectedMs)} of work by earlier runs` : "";
  const rest = unknown > 0 ? `, ${unknown} never timed` : "";
  process.stdout.write(
    `\n${plan.pipeline} (${plan.profile}): ${actions.run} to run, ${actions.reuse} to reuse${work}${rest}\n`,
  );
  if (previews.some(({ certain }) => !certain)) {
    process.stdout.write(
      "run ? : reads something that runs first; reused after all if that gives the same again\n",
    );
  }
  return 0;
}
