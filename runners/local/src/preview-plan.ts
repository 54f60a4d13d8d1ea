// What a run would do, without doing it: the same binding and look-up, instance by instance. Where
// something upstream runs first, the key is not known yet and the answer is not certain.
import { environmentStage, type Plan } from "@mlrb/core/plan";
import type { Reason } from "@mlrb/core/reasons";
import { bind, lookUp, type Result, reasonsToRun } from "./bind.ts";
import type { Workspace } from "./workspace.ts";

export type Preview = {
  index: number;
  action: "run" | "reuse";
  /** False where an early cutoff upstream may still let it be reused. */
  certain: boolean;
  reasons: Reason[];
  expectedMs: number | undefined;
};

export async function previewPlan(plan: Plan, selected: number[], workspace: Workspace): Promise<Preview[]> {
  const results: (Result | undefined)[] = plan.instances.map(() => undefined);
  const previews = new Map<number, Preview>();
  for (const index of selected) {
    const instance = plan.instances[index]!;
    const before = [...instance.inputs, ...instance.members].map(({ from }) => previews.get(from));
    const running = before.find((one) => one?.action === "run");
    const expectedMs = workspace.last.get(instance.id)?.durationMs;
    if (running) {
      const stage = plan.instances[running.index]!.id;
      previews.set(index, {
        index,
        action: "run",
        certain: false,
        reasons: [{ kind: "upstream-runs", stage }],
        expectedMs,
      });
      continue;
    }
    const bound = await bind(instance, { plan, workspace, results });
    const found = lookUp(instance, bound, workspace);
    if (found !== undefined && found !== "output-missing") {
      results[index] = { outcome: { kind: "reused" }, outputs: found.outputs };
      previews.set(index, {
        index,
        action: "reuse",
        certain: true,
        reasons: [{ kind: "unchanged" }],
        expectedMs,
      });
      continue;
    }
    const reasons: Reason[] =
      found === "output-missing"
        ? [{ kind: "output-missing" }]
        : reasonsToRun(instance, bound, { plan, workspace });
    previews.set(index, { index, action: "run", certain: true, reasons, expectedMs });
  }
  // an environment is built only when something that runs needs it
  for (const preview of previews.values()) {
    if (plan.instances[preview.index]!.stage.name !== environmentStage || preview.action === "reuse")
      continue;
    const users = [...previews.values()].filter(
      ({ index }) => plan.instances[index]!.environment === preview.index,
    );
    if (users.some(({ action, certain }) => action === "run" && certain)) continue;
    preview.certain = !users.some(({ action }) => action === "run");
    if (preview.certain) Object.assign(preview, { action: "reuse", reasons: [{ kind: "not-needed" }] });
  }
  workspace.digests.save();
  workspace.codes.save();
  return [...previews.values()];
}
