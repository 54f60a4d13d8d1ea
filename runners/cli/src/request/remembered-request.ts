// The plan for reading commands, remembered with what it was made from. A run never takes it from here; what is reused
// is always decided from the plan again.
import { deserialize, serialize } from "node:v8";
import type { Plan } from "@mlrb/core/plan/plan";
import { rememberedAnswer } from "./remembered-answer.ts";
import type { CommonOptions } from "./request.ts";
import { rootFolder, typedIn } from "./root-folder.ts";

export type RememberedRequest = { plan: Plan; selected: number[]; root: string };

/** A larger plan takes as long to read as to make, and tens of megabytes of disk. */
const instancesMax = 10_000;

/** The requested plan; undefined after printing the problems. */
export async function rememberedRequest(
  repository: string,
  pipeline: string,
  options: CommonOptions,
): Promise<RememberedRequest | undefined> {
  const root = rootFolder(repository, options.root);
  const { profile, only, set, executor } = options;
  const from = /[/\\.]/.test(pipeline) ? typedIn() : "";
  const asked = { command: "plan", pipeline, from, profile, only, set, executor };
  let fresh: RememberedRequest | undefined;
  // instances share stages and actions: V8 writes each once, plain JSON would repeat them in megabytes
  const held = await rememberedAnswer<string>({ repository, root, asked }, async (consulted) => {
    const { readRequest } = await import("./request.ts");
    const request = await readRequest(repository, pipeline, options, consulted);
    if (!request) return { keep: undefined };
    const { plan, selected } = request;
    fresh = { plan, selected, root };
    const isSmall = plan.instances.length <= instancesMax;
    return { keep: isSmall ? serialize({ plan, selected }).toString("base64") : undefined };
  });
  if (held === undefined) return fresh;
  const { plan, selected } = deserialize(Buffer.from(held, "base64")) as RememberedRequest;
  return { plan, selected, root };
}
