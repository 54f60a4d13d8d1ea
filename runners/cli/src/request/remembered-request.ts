// The plan, remembered with what it was made from. What is reused is always decided from the plan again.
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { type PackedPlan, packPlan, unpackPlan } from "./packed-plan.ts";
import { profilesOf } from "./profiles-of.ts";
import { rememberedAnswer } from "./remembered-answer.ts";
import type { CommonOptions, Request } from "./request.ts";
import { rootFolder, typedIn } from "./root-folder.ts";

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
  const { profile, only, set, executor, skipReferenceModels } = options;
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
