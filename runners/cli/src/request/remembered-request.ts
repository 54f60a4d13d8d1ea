// The plan, remembered with what it was made from. What is reused is always decided from the plan again.
import { createRequire } from "node:module";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { type PackedPlan, packPlan, unpackPlan } from "./packed-plan.ts";
import { rememberedAnswer } from "./remembered-answer.ts";
import type { CommonOptions, planInProfile, Request, Typed } from "./request.ts";
import { rootFolder, typedIn } from "./root-folder.ts";
import { withScripted } from "./scripted-pipeline.ts";

// What plans is loaded only where a refusal asks for another profile: a remembered plan needs a third fewer
// modules.
const require = createRequire(import.meta.url);

/** A larger plan takes as long to read as to make, and tens of megabytes of disk. */
const instancesMax = 10_000;

/** The requested plan; undefined after printing the problems. `consulted` gets what the plan was made from. */
export async function rememberedRequest(
  repository: string,
  pipeline: string,
  options: CommonOptions,
  consulted = new Consulted(repository),
): Promise<Request | undefined> {
  const root = rootFolder(repository, options.root);
  const { profile, only, executor, skipReferenceModels } = options;
  const set = [...options.set, ...(options.liveTools ? ["--live-tools"] : [])];
  const from = /[/\\.]/.test(pipeline) ? typedIn() : "";
  const asked = { command: "plan", pipeline, from, profile, only, set, executor, skipReferenceModels };
  let fresh: Request | undefined;
  const held = await rememberedAnswer<{ plan: PackedPlan; selected: number[] }>(
    { repository, root, asked, consulted },
    async () => {
      const { readRequest } = await import("./request.ts");
      const request = await readRequest(repository, pipeline, options, consulted);
      if (!request) return { keep: undefined };
      const { plan, selected } = request;
      fresh = request;
      return { keep: plan.instances.length <= instancesMax ? { plan: packPlan(plan), selected } : undefined };
    },
  );
  if (!held) return fresh;
  const [program] = consulted.programs.keys();
  const inProfile = await profilesOf({ repository, pipeline, options }, program);
  return { plan: unpackPlan(held.plan), selected: held.selected, root, inProfile };
}

/**
 * `inProfile` of a request whose plan was remembered. `program`: the path of its pipeline, if that is a program,
 * which has run in this process. Reads YAML files when it is called.
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
