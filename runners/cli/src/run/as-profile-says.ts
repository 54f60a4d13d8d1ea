// The diagnostic bundle that a profile wants at the end of a run. It does not change how the run ended.
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Request } from "../request/request.ts";
import type { RunCommandOptions } from "../request/run-invocation.ts";

type Ran = {
  request: Request;
  workspace: Workspace;
  pipeline: string;
  options: RunCommandOptions;
};

export async function asProfileSays({ request, workspace, pipeline, options }: Ran): Promise<void> {
  const { plan } = request;
  if (!plan.diagnose) return;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    const { writeBundle, bundleWords } = await import("../diagnose/diagnose-command.ts");
    const bundle = await writeBundle({ plan, workspace, typed: pipeline, set: options.set, to: undefined });
    say(bundleWords(bundle));
  } catch (error) {
    say(`no diagnostic bundle was written: ${(error as Error).message}`);
  }
}
