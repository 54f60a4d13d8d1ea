// Plans a request in another profile when a refusal asks for it. What plans is loaded only then: a command with a
// remembered plan needs a third fewer modules without it.
import { createRequire } from "node:module";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { planInProfile, Request, Typed } from "./request.ts";
import { withScripted } from "./scripted-pipeline.ts";

const require = createRequire(import.meta.url);

/**
 * `inProfile` of a request whose plan was remembered. `program`: the path of its pipeline, if that is a program, which
 * has run in this process. Reads YAML files when it is called.
 */
export async function profilesOf(typed: Typed, program: string | undefined): Promise<Request["inProfile"]> {
  const { repository } = typed;
  const scripted = program && (await withScripted(repository, program, sourceFiles(repository)));
  return (profile) => {
    if (scripted && "code" in scripted) return undefined;
    const module = require("./request.ts") as { planInProfile: typeof planInProfile };
    return module.planInProfile(typed, profile, scripted || sourceFiles(repository));
  };
}
