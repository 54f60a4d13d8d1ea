// What a profile wants at the end of a run: weights removed, a diagnostic bundle. Neither changes how the run ended.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Request } from "../request/request.ts";
import type { RunCommandOptions } from "../request/run-invocation.ts";

/** What removes weights. A run loads it at its begin, because the code may change while it runs. */
export type Thinning = Pick<typeof import("../attempts/attempts-thin.ts"), "thinAfterRun"> &
  Pick<typeof import("../request/request.ts"), "readRequest">;

/** Undefined if the profile removes no weights. Loads what reads YAML. */
export async function loadThinning({ retain }: Plan): Promise<Thinning | undefined> {
  if (retain.thin !== "scored" || retain.weights === "all") return undefined;
  const [{ thinAfterRun }, { readRequest }] = await Promise.all([
    import("../attempts/attempts-thin.ts"),
    import("../request/request.ts"),
  ]);
  return { thinAfterRun, readRequest };
}

type Ran = {
  request: Request;
  workspace: Workspace;
  pipeline: string;
  options: RunCommandOptions;
  thinning: Thinning | undefined;
};

export async function asProfileSays(
  { request, workspace, pipeline, options, thinning }: Ran,
  results: (Result | undefined)[],
): Promise<void> {
  const { plan } = request;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const isNarrowed = options.set.length > 0 || options.only.length > 0;
  try {
    await thinning?.thinAfterRun({ request, results, workspace }, { json: options.json, isNarrowed, say });
  } catch (error) {
    say(`weights could not be removed: ${(error as Error).message}`);
  }
  if (!plan.diagnose) return;
  try {
    const { writeBundle, bundleWords } = await import("../diagnose/diagnose-command.ts");
    const bundle = await writeBundle({ plan, workspace, typed: pipeline, set: options.set, to: undefined });
    say(bundleWords(bundle));
  } catch (error) {
    say(`no diagnostic bundle was written: ${(error as Error).message}`);
  }
}
