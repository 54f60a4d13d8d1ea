// What each profile of a pipeline lacks on this machine: what its gates find, and what it can run without.
import { loadPlan, type PlanRequest } from "@mlrb/core/plan/load-plan";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Sources } from "@mlrb/core/spec/manifest";
import { type Diagnostic, renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { noPython } from "@mlrb/local/process/find-python";
import { typedProgram } from "../request/typed-program.ts";
import { type Check, missing, note, works } from "./check.ts";
import { type Asked, quoted } from "./gate.ts";
import type { Machine } from "./inspect-machine.ts";
import { gib, namespaceHelp } from "./machine-checks.ts";
import { gates } from "./run-gates.ts";

export type ProfilePlan = { profile: string; isDefault: boolean } & (
  | { plan: Plan }
  | { problems: Diagnostic[] }
);

export type ProfileCheck = { profile: string; isDefault: boolean; runs: boolean; checks: Check[] };

/**
 * Of every profile, the default one first; of one profile where `asked` names it, or selects values.
 * `executors`: the names of this program's executors.
 */
export function profilePlans(
  asked: PlanRequest,
  sources: Sources,
  executors: string[],
): ProfilePlan[] | Diagnostic[] {
  const first = loadPlan(asked, sources, executors);
  if ("problems" in first) return first.problems;
  const { plan } = first;
  const isOne = asked.profile !== undefined || Object.keys(asked.set ?? {}).length > 0;
  const others = isOne ? [] : plan.profiles.filter((name) => name !== plan.profile);
  return [
    { profile: plan.profile, isDefault: asked.profile === undefined, plan },
    ...others.map((profile) => ({
      ...{ profile, isDefault: false },
      ...loadPlan({ ...asked, profile }, sources, executors),
    })),
  ];
}

/** `at`: what gates ask besides the plan. */
export async function profileCheck(
  one: ProfilePlan,
  machine: Machine,
  at: Omit<Asked, "plan" | "starts">,
): Promise<ProfileCheck> {
  const { profile, isDefault } = one;
  const checks = "problems" in one ? [unplanned(one.problems)] : await checksOf(one.plan, machine, at);
  return { profile, isDefault, checks, runs: canRun(checks) };
}

export function canRun(checks: Check[]): boolean {
  return checks.every(({ answer }) => answer !== "missing");
}

function unplanned(problems: Diagnostic[]): Check {
  const more = problems.length > 1 ? `, and ${problems.length - 1} more problems` : "";
  const [first = "", ...rest] = renderDiagnostic(problems[0]!).split("\n");
  const help = rest.find((line) => line.startsWith("  help: "))?.slice("  help: ".length);
  return missing("plan", `${first}${more}`, help ?? `\`${typedProgram()} check\` shows all`);
}

async function checksOf(plan: Plan, machine: Machine, at: Omit<Asked, "plan" | "starts">): Promise<Check[]> {
  const { instances } = plan;
  const after = [...new Set(instances.flatMap(({ checks = [] }) => checks))].map(
    (index) => instances[index]!.id,
  );
  const found = [works("plan", `${instances.length} stage instances`)];
  if (after.length > 0)
    found.push(works("starts", `attempts start after ${after.join(", ")}; \`plan\` says what is expected`));
  for (const gate of gates) found.push(...(await gate({ ...at, plan, starts: instances })));
  return [...found, ...hostChecks(instances, machine)];
}

function hostChecks(instances: Instance[], machine: Machine): Check[] {
  const { root, python, memoryBytes, cpus, namespaces } = machine;
  const here = instances.filter(runsHere);
  const checks: Check[] = [];
  if (!root.writable) checks.push(missing("disk", `${root.path} cannot be written`, "choose another --root"));
  if (!python && here.some(({ stage }) => stage.name === environmentStage))
    checks.push(missing("python", "no suitable version", noPython));
  const memory = most(here, ({ execution }) => execution.resources.memoryBytes);
  if (memory && memory.amount > memoryBytes) {
    const found = `"${memory.stage}" requests ${gib(memory.amount)}, this host has ${gib(memoryBytes)}`;
    checks.push(note("memory", found, "it will run alone, and may run out of memory"));
  }
  const cores = most(here, ({ execution }) => execution.resources.cpus);
  if (cores && cores.amount > cpus)
    checks.push(
      note("cpus", `"${cores.stage}" requests ${cores.amount}, this host has ${cpus}`, "it will run alone"),
    );
  const offline = here.filter(
    ({ execution }) => execution.executor === "local" && execution.network === "none",
  );
  if (offline.length > 0 && !namespaces.network) {
    const found = `running without network cannot be enforced here for ${quoted(offline.map(({ stage }) => stage.name))}`;
    checks.push(note("network", found, namespaceHelp(machine)));
  }
  return checks;
}

/** The largest request, with its stage; undefined without an instance. */
function most(instances: Instance[], amountOf: (one: Instance) => number) {
  const asked = instances.map((one) => ({ amount: amountOf(one), stage: one.stage.name }));
  return asked.reduce<(typeof asked)[0] | undefined>(
    (found, one) => (found === undefined || one.amount > found.amount ? one : found),
    undefined,
  );
}
