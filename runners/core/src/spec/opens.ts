// Files that untrusted code made are opened inside walls only. Every stage that needs such files must declare
// `opens: untrusted`. A collecting stage need not: it gathers results of stages that have read these files, and
// the runner checks the format of each result.

import type { ArtifactSource, PlannedStage } from "../plan/plan.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import type { Wires } from "./references.ts";

type OpensContext = { stages: Map<string, PlannedStage>; wires: Wires; source: YamlSource };

export function checkOpens(stage: PlannedStage, context: OpensContext): Diagnostic[] {
  return stage.opens === undefined ? undeclared(stage, context) : conflicts(stage, context);
}

/** An untrusted stage has a sandbox of its own. */
function undeclared(
  { name, untrusted }: PlannedStage,
  { stages, wires, source }: OpensContext,
): Diagnostic[] {
  if (untrusted) return [];
  return wires.needs.flatMap(({ path, ...need }) => {
    if (!isForeign(need, stages)) return [];
    return {
      code: "opens-untrusted",
      message: `"${name}" needs ${need.stage}.${need.output}, which untrusted code made, and does not declare it`,
      place: source.place(path),
      help: `write in "${name}": opens: untrusted. It then runs inside walls, without a network`,
    };
  });
}

/** An output of an untrusted stage, or a folder from a stage that opens such outputs: it may hold the same files. */
function isForeign({ stage, output }: ArtifactSource, stages: Map<string, PlannedStage>): boolean {
  const from = stages.get(stage);
  if (from?.untrusted) return true;
  return from?.opens !== undefined && from.gives.some(({ name, kind }) => name === output && kind === "dir");
}

/** Settings that would let files inside the walls reach something outside. */
function conflicts({ name, untrusted, spec }: PlannedStage, { source }: OpensContext): Diagnostic[] {
  const refuse = (key: string, message: string, help: string): Diagnostic => ({
    code: "opens-untrusted",
    message: `"${name}" declares opens: untrusted and ${message}`,
    place: source.place(["stages", name, key], "key"),
    help,
  });
  const problems: Diagnostic[] = [];
  if (untrusted) problems.push(refuse("opens", "untrusted: true", "remove opens: its sandbox is stricter"));
  if (spec.network === "full")
    problems.push(refuse("network", "network: full", "download in an earlier stage that this one needs"));
  if (Array.isArray(spec.secrets) ? spec.secrets.length > 0 : spec.secrets !== undefined)
    problems.push(refuse("secrets", "secrets", "use the secrets in a stage that opens no such files"));
  return problems;
}
