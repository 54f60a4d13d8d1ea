// Checks the preset of a team beyond its shape: members exist and differ, nobody waits forever, and an attempt has
// what each of them needs.
import type { AgentPreset } from "@mlrb/formats/declared/agent-preset";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

type Member = NonNullable<AgentPreset["team"]>["members"][number];

export type MemberPresets = {
  /** The preset of a member, or its problems. Undefined: there is none. `team`: members are no teams. */
  presetOf(agent: string): AgentPreset | Diagnostic[] | "team" | undefined;
  names(): string[];
};

/** Recipients of messages and folders with these names are no member's. */
const reserved = ["all", "shared"];
/** What its members have, each its own. */
const ofMembers = [
  ...(["command", "gateway", "provider", "model", "planner", "scaffold"] as const),
  ...(["tools", "turnsMax", "recording", "liveTools"] as const),
];

/** `lost`: the fields whose value is not known. */
export function checkTeam(
  source: YamlSource,
  { presetOf, names }: MemberPresets,
  lost: ReadonlySet<string>,
): Diagnostic[] {
  if (lost.has("kind") || lost.has("team")) return [];
  const preset = source.value as AgentPreset;
  const { kind, team } = preset;
  const problems: Diagnostic[] = [];
  const report = (code: string, message: string, at: { path: Path; of?: "key"; help: string }) =>
    void problems.push({ code, message, place: source.place(at.path, at.of), help: at.help });
  if (kind === "team" && !team) {
    const help = "write team: { members: [{ name, agent }, …] }";
    report("no-team", "the team has no members", { path: ["kind"], help });
  } else if (kind !== "team" && team) {
    const help = "write kind: team, or remove `team`";
    report("no-team", `an agent of kind ${kind} has no members`, { path: ["team"], of: "key", help });
  }
  if (kind !== "team" || !team) return problems;
  for (const field of ofMembers.filter((one) => preset[one] !== undefined)) {
    const help = "write it in the presets of its members";
    report("team-field", `a team has no \`${field}\` of its own`, { path: [field], of: "key", help });
  }
  const waiting = neverStarting(team.members);
  for (const [index, member] of team.members.entries()) {
    const { name, agent, after = [] } = member;
    const path = (field: string): Path => ["team", "members", index, field];
    const wrong = (message: string, field: string, help = "choose another name") =>
      report("team-member", message, { path: path(field), help });
    if (reserved.includes(name)) wrong(`no member can be called "${name}"`, "name");
    if (team.members.findIndex((one) => one.name === name) < index)
      wrong(`two members are called "${name}"`, "name");
    if (member.preset) wrong("a file does not hold a member's preset", "preset", "name it: agent: NAME");
    const others = team.members.flatMap((one) => (one.name === name ? [] : [one.name]));
    for (const one of after.filter((wanted) => wanted !== name && !others.includes(wanted)))
      report("unknown-member", `no member is called "${one}"`, {
        path: path("after"),
        help: didYouMean(one, others),
      });
    if (waiting[0] === name) {
      const message = `these members wait for each other and never start: ${waiting.join(", ")}`;
      report("team-cycle", message, { path: path("after"), help: "remove one `after`" });
    }
    const found = presetOf(agent);
    if (Array.isArray(found)) problems.push(...found);
    else if (found === undefined)
      report("unknown-agent", `no agent named "${agent}"`, {
        path: path("agent"),
        help: didYouMean(agent, names()),
      });
    else if (found === "team" || !["command", "llm"].includes(found.kind)) {
      const message = `"${agent}" is of kind ${found === "team" ? found : found.kind} and cannot be a member`;
      wrong(message, "agent", "choose an agent of kind command or llm");
    } else
      for (const { code, field, ...need } of lackedBy(member, found, preset))
        if (!lost.has(field))
          report(code, need.message, { path: need.path ?? path("agent"), help: need.help });
  }
  return problems;
}

/** Members that wait for each other, and those that wait for them. One that waits for an unknown name is another problem. */
function neverStarting(members: Member[]): string[] {
  let waiting = members;
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    const left = new Set(waiting.map(({ name }) => name));
    waiting = waiting.filter(({ after = [] }) => after.some((one) => left.has(one)));
  }
  return waiting.map(({ name }) => name);
}

/** What an attempt of the team would not have for this member, and what the team claims of it. */
function lackedBy({ name }: Member, own: AgentPreset, team: AgentPreset) {
  const differing = (["program", "library", "environment", "image"] as const)
    .filter((field) => own[field] !== undefined && own[field] !== team[field])
    .map((field) => {
      const has = team[field] === undefined ? "has none" : `has ${team[field]}`;
      const message = `member "${name}" has the ${field} ${own[field]}, and the team ${has}`;
      const help = `write ${field}: ${own[field]} in the team's preset, or choose another agent`;
      return { code: "team-differs", field, message, help, path: undefined };
    });
  const claimed = (["trusted", "seeded"] as const)
    .filter((flag) => team[flag] === true && own[flag] !== true)
    .map((flag) => {
      const message = `the team is ${flag}, and member "${name}" is not`;
      return { code: "team-differs", field: flag, message, help: `remove ${flag}: true`, path: [flag] };
    });
  const { secrets = [] } = team;
  const missing = (own.secrets ?? []).filter((one) => !secrets.includes(one));
  return [
    ...differing,
    ...claimed,
    ...missing.map((one) => {
      const message = `member "${name}" needs the secret ${one}, which is not among those of the team`;
      const help = `write secrets: [${[...secrets, one].join(", ")}] in the team's preset`;
      return { code: "unknown-secret", field: "secrets", message, help, path: undefined };
    }),
  ];
}
