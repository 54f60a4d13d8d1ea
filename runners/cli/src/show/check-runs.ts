// Finds, for `pipeline check`, scripts that cannot be bundled and files in an agent's folder that cannot be given
// to the agent.
import { join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { CannotHandOver } from "@mlrb/kit/attempts/handed-over";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { CannotBundle } from "@mlrb/local/digests/bundle-script";
import { CodeDigests } from "@mlrb/local/digests/code-digest";
import { wholeFolder } from "@mlrb/local/digests/file-digest-memory";

/** Scripts, and folders handed to agents, as paths from the repository's root. */
export type Runs = { scripts: Set<string>; handedOver: Set<string> };

export function addRuns({ action, stage }: Instance, runs: Runs): void {
  if (action.run.kind === "script") runs.scripts.add(action.run.file);
  if (!stage.durable) return;
  for (const pattern of action.files) {
    const folder = wholeFolder(pattern);
    if (folder !== undefined) runs.handedOver.add(folder);
  }
}

/** The problems that would fail a stage before it starts. */
export async function cannotStart(
  repository: string,
  { scripts, handedOver }: Runs,
  consulted: Consulted,
): Promise<Diagnostic[]> {
  // uses bundles remembered by runs; writes nothing
  const codes = new CodeDigests(repository, join(repository, ".mlrb/cache/memory"), consulted);
  const problems: Diagnostic[] = [];
  for (const script of [...scripts].sort()) {
    try {
      await codes.of(script);
    } catch (error) {
      if (error instanceof CannotBundle) problems.push(...error.problems);
      else problems.push({ code: "cannot-bundle", message: `${script}: ${(error as Error).message}` });
    }
  }
  for (const folder of [...handedOver].sort()) {
    try {
      consulted.handedOver(folder);
    } catch (error) {
      if (!(error instanceof CannotHandOver)) throw error;
      problems.push({ code: "cannot-hand-over", message: error.message });
    }
  }
  return problems;
}
