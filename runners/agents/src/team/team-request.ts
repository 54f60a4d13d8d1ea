// The members of a team, from its preset.
import { type AttemptParams, attemptParams } from "../attempt/attempt-params.ts";
import { checkScaffold } from "../attempt/check-scaffold.ts";
import { type LlmAgent, llmAgent } from "../attempt/llm-agent.ts";
import { type GatewayProvider, gatewayProviders } from "../gateway/gateway-provider.ts";

export type TeamMember = {
  name: string;
  /** Its preset. */
  agent: string;
  role?: string;
  /** It starts when each of these has ended or handed over. */
  after: readonly string[];
  kind: "command" | "llm";
  command: string[];
  llm?: LlmAgent;
  gateway?: GatewayProvider[];
};

export type TeamRequest = {
  members: readonly TeamMember[];
  workspace: "shared" | "own";
  resources: "shared" | "divided";
};

/** The planner has checked the preset. Throws with what to write where a person typed it. */
export function teamRequest({ team }: AttemptParams, env?: NodeJS.ProcessEnv): TeamRequest {
  if (!team) throw new Error("an agent of kind team needs `team: { members: [...] }` in its preset");
  const { members, workspace = "shared", resources = "shared" } = team;
  const names = members.map(({ name }) => name);
  return {
    members: members.map(({ name, agent, role, after = [], preset }) => {
      const unknown = after.find((one) => !names.includes(one) || one === name);
      if (unknown !== undefined || names.indexOf(name) !== names.lastIndexOf(name))
        throw new Error(
          `member "${name}": each has a name of its own, and waits for others of the team only`,
        );
      const own = attemptParams({ ...preset, prompt: "of the team" });
      const { kind, command = [], gateway = [], scaffoldVersion } = own;
      if (kind !== "command" && kind !== "llm")
        throw new Error(`member "${name}" is of kind ${kind}; a member is of kind command or llm`);
      const llm = kind === "llm" ? llmAgent(own, env) : undefined;
      checkScaffold(llm?.scaffold.kind ?? "command", scaffoldVersion);
      const providers = kind === "command" ? gatewayProviders(gateway, env) : [];
      return {
        ...{ name, agent, after, kind, command },
        ...(role !== undefined && { role }),
        ...(llm && { llm }),
        ...(providers.length > 0 && { gateway: providers }),
      };
    }),
    ...{ workspace, resources },
  };
}
