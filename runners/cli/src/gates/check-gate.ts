// Refuses a run of selected stages that would start an instance without its checks (`startAfter`): a check outside
// the selection, and what a selected one reads from outside, count only if their last results are still valid.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Deciding, startedIn } from "./gate.ts";

type Planned = Pick<Request, "plan" | "selected">;

export async function checkGate(
  { plan, selected }: Request,
  gate: Deciding,
): Promise<Diagnostic | undefined> {
  if (trusted({ plan, selected }, selected).size === 0) return undefined;
  return checkProblem({ plan, selected }, (await previewPlan(plan, selected, gate)).previews, gate);
}

/** The problem of starting `previews`. */
export async function checkProblem(
  request: Planned,
  previews: Pick<Preview, "index" | "action" | "onStale" | "reasons">[],
  gate: Deciding,
): Promise<Diagnostic | undefined> {
  const starts = startedIn(previews).filter(({ reasons }) => !reasons.some(({ kind }) => kind === "goes-on"));
  const wanted = trusted(
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
  const open = [...wanted].filter(([result]) => !valid.has(result));
  if (open.length === 0) return undefined;
  const [result, { check, start }] = open[0]!;
  const [lacking, checking, starting] = [result, check, start].map((index) => plan.instances[index]!.id);
  const needs = lacking === checking ? "which" : `which reads ${lacking}, which`;
  return {
    code: "not-checked",
    message: `${starting} starts only after ${checking} has succeeded, ${needs} is not selected and has no valid result${open.length > 1 ? ` (and ${open.length - 1} more)` : ""}`,
    help: "leave --only out, or run the checks first with --only for them and the stages that they collect; --skip-reference-models starts without them",
  };
}

type Trusted = { check: number; start: number };

/**
 * Results outside the selection that `starts` rest on: a check, or what a selected check reads, directly or not.
 * Each with the check and the first of `starts` that waits for it.
 */
function trusted({ plan, selected }: Planned, starts: number[]): Map<number, Trusted> {
  const inside = new Set(selected);
  const found = new Map<number, Trusted>();
  const seen = new Set<number>();
  for (const start of starts)
    for (const check of plan.instances[start]!.checks ?? []) {
      if (seen.has(check)) continue;
      seen.add(check);
      const rests = inside.has(check) ? upstream(plan, [check]) : [check];
      for (const index of rests)
        if (!inside.has(index) && !found.has(index)) found.set(index, { check, start });
    }
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
