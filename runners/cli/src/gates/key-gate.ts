// Refuses a run before anything starts if an attempt's preset names a variable for its model's key and that variable is
// not set.

import type { Instance } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import { isTable } from "@mlrb/formats/is-table";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, startedIn } from "./gate.ts";

/** Why the run may not start, if it may not. */
export async function keyGate(
  { plan, selected }: Request,
  gate: Gate,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Diagnostic | undefined> {
  const lacking = selected.filter((index) => missingKeys(plan.instances[index]!, env).length > 0);
  if (lacking.length === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  return noKeys(previews, plan.instances, env);
}

/** The problem of starting `previews`. */
export function noKeys(
  previews: Pick<Preview, "index" | "action" | "onStale">[],
  instances: Instance[],
  env: NodeJS.ProcessEnv,
): Diagnostic | undefined {
  const started = startedIn(previews).map(({ index }) => instances[index]!);
  const wanted = new Map<string, Instance[]>();
  for (const instance of started)
    for (const key of missingKeys(instance, env)) wanted.set(key, [...(wanted.get(key) ?? []), instance]);
  if (wanted.size === 0) return undefined;
  const words = [...wanted].map(
    ([key, [first, ...more]]) =>
      `${key} is not set, and ${first!.id}${more.length > 0 ? ` and ${more.length} more call` : " calls"} models with it`,
  );
  return {
    code: "no-key",
    message: words.join("; "),
    help: `export ${[...wanted.keys()].join(" and ")} in this shell; only the attempt's supervisor receives the value, not its sandbox and no file`,
  };
}

/** The unset variables that the instance's parameters name as keys of models. */
function missingKeys({ stage, action }: Instance, env: NodeJS.ProcessEnv): string[] {
  if (!stage.durable) return [];
  const tables = Object.values(attemptFields(action.params)).flatMap((value) =>
    Array.isArray(value) ? value : [value],
  );
  const keys = tables.filter((value) => isTable(value)).map(({ key }) => key);
  return [...new Set(keys.filter((key) => typeof key === "string"))].filter(
    (key) => action.secrets.includes(key) && !env[key],
  );
}
