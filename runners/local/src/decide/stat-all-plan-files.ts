// Consults every file that a plan could depend on. This includes instances that were not decided because an
// upstream instance failed: `watch` must notice an edit that repairs them.
import { join } from "node:path";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import { CodeDigests } from "../digests/code-digest.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Consulted } from "./consulted-files.ts";

type Planned = { plan: Plan; selected: number[]; workspace: Workspace };

/** Adds the files to `workspace.consulted`. */
export async function consultAllFiles({ plan, selected, workspace }: Planned): Promise<void> {
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

/** Consults the imports of pipelines that are programs. Other files that these programs read are unknown. */
export async function consultScriptedPipelines(at: {
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
    // the script does not parse; the file with the error was consulted
  }
}
