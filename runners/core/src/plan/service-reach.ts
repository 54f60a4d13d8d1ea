// Reports users of a service that could not reach it: its address is one of the runner's host.
// Pure.
import type { Instance } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";

export function checkReach(instances: Instance[], { source, written, problems }: ResolveContext): void {
  const seen = new Set<string>();
  for (const instance of instances) {
    const { stage, uses } = instance;
    const why = uses && outOfReach(instance);
    if (!why || seen.has(stage.name)) continue;
    seen.add(stage.name);
    problems.push({
      code: "service-out-of-reach",
      message: `"${stage.name}" uses the service "${uses.name}" and ${why.why}`,
      place: source.place(why.setting ? written(stage.name, [why.setting]) : ["stages", stage.name], "key"),
      help: why.help,
    });
  }
}

/** An attempt's model is called by its supervisor, which is on the runner's host; its sandbox is not. */
function outOfReach({ stage, execution }: Instance) {
  const { executor, network } = execution;
  if (executor !== "local" && !stage.untrusted)
    return {
      why: `runs with executor: ${executor}`,
      setting: "executor",
      help: "a service listens on the host of the runner only; run its users with executor: local, or start the server by hand and name its address",
    };
  if (stage.opens !== undefined)
    return {
      why: "declares opens: untrusted, so it has no network",
      setting: undefined,
      help: "call the model in an earlier stage that opens no files of untrusted code",
    };
  if (network === "none" && !stage.untrusted)
    return { why: "has network: none", setting: "network", help: "remove network: none" };
  return undefined;
}
