// Looks at every file that a plan could depend on, also of instances that were not decided because something
// before them failed: who watches a pipeline must see what would mend it.
import { join } from "node:path";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import { CodeDigests } from "../digests/code-digest.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Consulted } from "./consulted-files.ts";

type Planned = { plan: Plan; selected: number[]; workspace: Workspace };

/** Noted in what the workspace consults. */
export async function lookAtAll({ plan, selected, workspace }: Planned): Promise<void> {
  const { codes, imports, consulted } = workspace;
  const scripts = new Set<string>();
  const pythons = new Set<string>();
  for (const index of selected) {
    const { action, stage } = plan.instances[index]!;
    const { run } = action;
    if (run.kind === "script") scripts.add(run.file);
    if (run.kind === "python") pythons.add(run.file);
    for (const pattern of action.files) consulted.pattern(pattern);
    if (stage.name === environmentStage) consulted.file(String(action.params.lock));
  }
  for (const file of scripts) await bundled(codes, { file, consulted });
  for (const file of pythons) imports.of(file);
}

/** What a pipeline that is a program imports. What else it reads, nobody can know. */
export async function lookAtScripted(at: {
  repository: string;
  root: string;
  consulted: Consulted;
}): Promise<void> {
  const { repository, root, consulted } = at;
  const codes = new CodeDigests(repository, join(root, ".mlrb", "cache", "memory"), consulted);
  const scripted = [...consulted.files.keys()].filter((path) => /^pipelines\/[^/]+\.ts$/.test(path));
  for (const file of scripted) await bundled(codes, { file, consulted });
}

async function bundled(codes: CodeDigests, { file, consulted }: { file: string; consulted: Consulted }) {
  consulted.file(file);
  try {
    await codes.of(file);
  } catch {
    // it does not parse: where, has been looked at
  }
}
