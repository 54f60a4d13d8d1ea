// Checks the roles that a collecting stage needs. It finds its members by role and never by a stage's name, so a
// missing or doubled role would silently change its numbers.

import type { PlannedStage } from "../plan/plan.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { suggest } from "../yaml/suggest.ts";
import type { StageContext } from "./check-stage.ts";
import type { Reference } from "./references.ts";

/** The problems with the roles of the stages that `name` collects. */
export function checkRoles(
  name: string,
  collect: Reference[],
  { stages, source, unclear }: StageContext & { stages: Map<string, PlannedStage> },
): Diagnostic[] {
  const roles = stages.get(name)!.spec.roles ?? [];
  const collected = [...new Set(collect.map(({ stage }) => stage))];
  // a reference or role with a reported problem may have any role
  if (collected.some((stage) => !stages.has(stage) || unclear("stages", stage, "role"))) return [];
  if (unclear("stages", name, "collect")) return [];
  const withRole = (role: string) => collected.filter((stage) => stages.get(stage)!.role === role);
  const known = new Set(collected.flatMap((stage) => stages.get(stage)!.role ?? []));
  const doubled = [...known].flatMap((role): Diagnostic | [] => {
    const stages = withRole(role);
    if (stages.length < 2) return [];
    const reference = collect.find(({ stage }) => stage === stages[1])!;
    const both = stages.map((stage) => `"${stage}"`).join(" and ");
    return {
      code: "double-role",
      message: `"${name}" collects from ${both}, which ${stages.length > 2 ? "all" : "both"} have the role "${role}"`,
      place: source.place(reference.path),
      help: "give each stage a role of its own, or none, or collect from one of them",
    };
  });
  const missing = roles.flatMap((role, at): Diagnostic | [] => {
    if (known.has(role)) return [];
    const others = [...known].filter((other) => !roles.includes(other));
    const near = suggest(role, others);
    return {
      code: "missing-role",
      message: `"${name}" needs the role "${role}", which no stage that it collects from has`,
      place: source.place(["stages", name, "roles", at]),
      help:
        near === undefined
          ? `write role: ${role} at the stage whose results these are, and collect them`
          : `did you mean "${near}"?`,
    };
  });
  return [...doubled, ...missing];
}
