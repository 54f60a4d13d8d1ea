// Keeps private data from agents: directly and through artifacts made from it.

import type { ArtifactSource, PlannedOutput, PlannedStage } from "../plan/plan.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import { isDeclaredPrivate } from "./given-output.ts";
import type { Wires } from "./references.ts";

/** Marks every output of a stage that reads a private artifact as private, unless it is released. */
export function spreadPrivacy(ordered: PlannedStage[], stages: Map<string, PlannedStage>): void {
  for (const stage of ordered) {
    const tainted = [...stage.needs, ...stage.collect].some((need) => outputOf(stages, need)?.private);
    if (!tainted) continue;
    for (const output of stage.gives) {
      if (!(stage.spec.releases ?? []).includes(output.name)) output.private = true;
    }
  }
}

export function checkPrivacy(
  { name, untrusted, spec }: PlannedStage,
  context: { stages: Map<string, PlannedStage>; wires: Wires; source: YamlSource },
): Diagnostic[] {
  const isService = spec.service !== undefined; // its users may be untrusted
  if (!untrusted && !isService) return [];
  const kind = isService ? "a service" : "an untrusted stage";
  const { stages, wires, source } = context;
  return [...wires.needs, ...wires.collect].flatMap(({ path, ...need }) => {
    if (!outputOf(stages, need)?.private) return [];
    const declared = isDeclaredPrivate(stages.get(need.stage)!.spec.gives?.[need.output]);
    return {
      code: "private-for-untrusted",
      message: `"${name}" is ${isService ? "a service" : "untrusted"} and needs ${need.stage}.${need.output}, which is private`,
      place: source.place(path),
      help: declared
        ? `${kind} may need public artifacts only`
        : `${kind} may need public artifacts only; if nothing private is in it: ${need.stage} releases: [${need.output}]`,
    };
  });
}

function outputOf(
  stages: Map<string, PlannedStage>,
  { stage, output }: ArtifactSource,
): PlannedOutput | undefined {
  return stages.get(stage)?.gives.find((one) => one.name === output);
}
