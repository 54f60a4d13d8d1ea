// The plan, remembered with what it was made from. What is reused is always decided from the plan again.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { type PackedPlan, packPlan, unpackPlan } from "./packed-plan.ts";
import { rememberedAnswer } from "./remembered-answer.ts";
import type { CommonOptions, Request } from "./request.ts";
import { rootFolder, typedIn } from "./root-folder.ts";

/** `inProfile` only where nothing was remembered. */
export type RememberedRequest = { plan: Plan; selected: number[]; root: string } & Partial<
  Pick<Request, "inProfile">
>;

/** A larger plan takes as long to read as to make, and tens of megabytes of disk. */
const instancesMax = 10_000;

/** The requested plan; undefined after printing the problems. `consulted` gets what the plan was made from. */
export async function rememberedRequest(
  repository: string,
  pipeline: string,
  options: CommonOptions,
  consulted?: Consulted,
): Promise<RememberedRequest | undefined> {
  const root = rootFolder(repository, options.root);
  const { profile, only, set, executor, skipReferenceModels } = options;
  const from = /[/\\.]/.test(pipeline) ? typedIn() : "";
  const asked = { command: "plan", pipeline, from, profile, only, set, executor, skipReferenceModels };
  let fresh: RememberedRequest | undefined;
  const held = await rememberedAnswer<{ plan: PackedPlan; selected: number[] }>(
    { repository, root, asked, ...(consulted && { consulted }) },
    async (consulted) => {
      const { readRequest } = await import("./request.ts");
      const request = await readRequest(repository, pipeline, options, consulted);
      if (!request) return { keep: undefined };
      const { plan, selected } = request;
      fresh = request;
      return { keep: plan.instances.length <= instancesMax ? { plan: packPlan(plan), selected } : undefined };
    },
  );
  return held ? { plan: unpackPlan(held.plan), selected: held.selected, root } : fresh;
}
