// Refuses a run whose stages need containers if no container engine answers, before anything starts, and names the
// profiles that need none.

import type { Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, profilesWhere, startedIn } from "./gate.ts";

/** Why the run may not start, if it may not. */
export async function containerGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  if (!selected.some((index) => inContainer(plan, index))) return undefined;
  const { containerEngine } = await import("@mlrb/docker/container-engine");
  const engine = await containerEngine();
  if (!("trouble" in engine)) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  const starts = startedIn(previews);
  const wanting = starts.map(({ index }) => index).filter((index) => inContainer(plan, index));
  return wanting.length === 0 ? undefined : noEngine(request, wanting, engine.trouble.detail);
}

/** The problem that no engine answers. */
function noEngine(request: ProfiledPlan, wanting: number[], trouble: string): Diagnostic {
  const { plan } = request;
  const stages = [...new Set(wanting.map((index) => `"${plan.instances[index]!.stage.name}"`))];
  const named = stages.length > 3 ? [...stages.slice(0, 3), `${stages.length - 3} more stages`] : stages;
  const without = profilesWhere(request, ({ plan, selected }) =>
    selected.every((index) => !inContainer(plan, index)),
  ).join(", ");
  return {
    code: "no-container-engine",
    message: `${named.join(", ")} ${stages.length === 1 ? "runs" : "run"} in containers; ${trouble}`,
    help: `${without === "" ? "" : `without containers: ${without}; `}\`pnpm pipeline doctor\` checks the engine`,
  };
}

function inContainer(plan: Plan, index: number): boolean {
  return plan.instances[index]!.execution.executor === "docker";
}
