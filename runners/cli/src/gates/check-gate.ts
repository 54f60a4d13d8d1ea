// Refuses a run of selected stages that would start an instance without its checks (`startAfter`): a check outside the
// selection counts only if its last result is still valid.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, startedIn } from "./gate.ts";

type Planned = Pick<Request, "plan" | "selected">;

export async function checkGate({ plan, selected }: Request, gate: Gate): Promise<Diagnostic | undefined> {
  if (outside({ plan, selected }, selected).size === 0) return undefined;
  return checkProblem({ plan, selected }, (await previewPlan(plan, selected, gate)).previews, gate);
}

/** The problem of starting `previews`. */
export async function checkProblem(
  request: Planned,
  previews: Pick<Preview, "index" | "action" | "onStale" | "reasons">[],
  gate: Gate,
): Promise<Diagnostic | undefined> {
  const starts = startedIn(previews).filter(({ reasons }) => !reasons.some(({ kind }) => kind === "goes-on"));
  const wanted = outside(
    request,
    starts.map(({ index }) => index),
  );
  if (wanted.size === 0) return undefined;
  const { plan } = request;
  const closure = upstream(plan, [...wanted.keys()]);
  const valid = new Set(
    (await previewPlan(plan, closure, gate)).previews
      .filter(({ action, certain }) => action === "reuse" && certain)
      .map(({ index }) => index),
  );
  const open = [...wanted].filter(([check]) => !valid.has(check));
  if (open.length === 0) return undefined;
  const ids = open.map(([check]) => plan.instances[check]!.id);
  const [, first] = open[0]!;
  return {
    code: "not-checked",
    message: `${plan.instances[first]!.id} starts only after ${ids[0]} has succeeded, which is not selected and has no valid result${ids.length > 1 ? ` (and ${ids.length - 1} more)` : ""}`,
    help: "leave --only out, or run the checks first with --only for them and the stages that they collect; --skip-reference-models starts without them",
  };
}

/** Checks outside the selection, each with the first of `starts` that waits for it. */
function outside({ plan, selected }: Planned, starts: number[]): Map<number, number> {
  const inside = new Set(selected);
  const found = new Map<number, number>();
  for (const index of starts)
    for (const check of plan.instances[index]!.checks ?? [])
      if (!inside.has(check) && !found.has(check)) found.set(check, index);
  return found;
}

/** The instances and everything that they read, in plan order. */
function upstream({ instances }: Plan, wanted: number[]): number[] {
  const seen = new Set<number>();
  const left = [...wanted];
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const { inputs, members, environment } = instances[index]!;
    left.push(...[...inputs, ...members].map(({ from }) => from));
    if (environment !== undefined) left.push(environment);
  }
  return [...seen].sort((a, b) => a - b);
}
