// Plans a request in another profile when a refusal asks for it. What plans is loaded only then: a command with a
// remembered plan needs a third fewer modules without it.
import { createRequire } from "node:module";
import type { CommonOptions, planInProfile, Request } from "./request.ts";

const require = createRequire(import.meta.url);

/** `inProfile` of a request whose plan was remembered: the pipeline is no program. Reads the files when it is called. */
export function profilesOf(
  repository: string,
  pipeline: string,
  options: CommonOptions,
): Request["inProfile"] {
  return (profile) => {
    const module = require("./request.ts") as { planInProfile: typeof planInProfile };
    return module.planInProfile({ repository, pipeline, options }, profile);
  };
}
