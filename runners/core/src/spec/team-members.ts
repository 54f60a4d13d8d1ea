// A team as a plan uses it: what its file names is read into it, so that keys and attempts hold each member's preset.
import { type AgentPreset, presetOfAttempt } from "@mlrb/formats/declared/agent-preset";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import { agentWithModel, splitAgentName } from "./agent-model.ts";

/**
 * The team with the presets of its members, and with its chosen model in those of them that leave it open. `read` gives
 * the manifest of an agent.
 */
export function withMembers(
  source: YamlSource<AgentPreset>,
  read: (agent: string) => YamlSource<AgentPreset> | Diagnostic[] | undefined,
): YamlSource<AgentPreset> | Diagnostic[] {
  const { name, team, secrets = [] } = source.value;
  const { model } = splitAgentName(name);
  const problems: Diagnostic[] = [];
  const needed = new Set(secrets);
  const members = team!.members.map((member) => {
    const own = read(member.agent) as YamlSource<AgentPreset>;
    const isOpen = own.value.model !== undefined && own.value.model.id === undefined;
    const agent = isOpen && model !== undefined ? agentWithModel(member.agent, model) : member.agent;
    const chosen = agent === member.agent ? own : read(agent)!;
    if (Array.isArray(chosen)) {
      problems.push(...chosen);
      return member;
    }
    for (const one of chosen.value.secrets ?? []) needed.add(one);
    const fields = Object.entries(presetOfAttempt(chosen.value)).filter(([, value]) => value !== null);
    return { ...member, agent, preset: Object.fromEntries(fields) };
  });
  if (model !== undefined && members.every(({ agent }, index) => agent === team!.members[index]!.agent))
    problems.push({
      code: "unknown-model",
      message: `no member of the team "${name}" leaves its model open`,
      place: source.place(["team", "members"]),
      help: "leave out --set model=…, or name a scaffold without a model as a member",
    });
  if (problems.length > 0) return problems;
  const value = {
    ...source.value,
    team: { ...team!, members },
    ...(needed.size > 0 && { secrets: [...needed] }),
  };
  return { ...source, value, place: source.place };
}
