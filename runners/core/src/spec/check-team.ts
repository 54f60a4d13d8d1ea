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
const ofTeam = ["program", "library", "environment", "image"] as const;

/** `lost`: the fields whose value is not known. */
export function checkTeam(
  source: YamlSource,
  { presetOf, names }: MemberPresets,
  lost: ReadonlySet<string>,
): Diagnostic[] {
  if (lost.has("kind") || lost.has("team")) return [];
  const preset = source.value as AgentPreset;
  const { kind, team } = preset;
  if ((kind === "team") !== (team !== undefined))
    return [
      {
        code: "no-team",
        message: team ? `an agent of kind ${kind} has no members` : "the team has no members",
        place: source.place([team ? "team" : "kind"], team ? "key" : "value"),
        help: team ? "write kind: team, or remove `team`" : "write team: { members: [{ name, agent }, …] }",
      },
    ];
  if (!team) return [];
  const { members } = team;
  const at = (index: number, ...path: Path): Path => ["team", "members", index, ...path];
  const own = ofMembers.filter((field) => preset[field] !== undefined);
  return [
    ...own.map((field) => ({
      code: "team-field",
      message: `a team has no \`${field}\` of its own`,
      place: source.place([field], "key"),
      help: "write it in the presets of its members",
    })),
    ...members.flatMap((member, index) => checkName(member, index, { members, source })),
    ...checkOrder(members, source),
    ...members.flatMap((member, index) => {
      const found = presetOf(member.agent);
      if (Array.isArray(found)) return found;
      const place = source.place(at(index, "agent"));
      if (found === undefined)
        return {
          code: "unknown-agent",
          message: `no agent named "${member.agent}"`,
          place,
          help: didYouMean(member.agent, names()),
        };
      const ofKind = found === "team" ? found : found.kind;
      if (found !== "team" && ["command", "llm"].includes(ofKind))
        return checkNeeds(member, found, { team: preset, source, path: at(index, "agent"), lost });
      return {
        code: "team-member",
        message: `"${member.agent}" is of kind ${ofKind} and cannot be a member`,
        place,
        help: "choose an agent of kind command or llm",
      };
    }),
  ];
}

function checkName(
  { name, preset }: Member,
  index: number,
  { members, source }: { members: Member[]; source: YamlSource },
): Diagnostic[] {
  const path = ["team", "members", index];
  const problem = (message: string, field: string, help: string) => ({
    ...{ code: "team-member", message, help },
    place: source.place([...path, field]),
  });
  const isTwice = members.findIndex((one) => one.name === name) < index;
  return [
    ...(reserved.includes(name)
      ? [problem(`no member can be called "${name}"`, "name", "choose another name")]
      : []),
    ...(isTwice ? [problem(`two members are called "${name}"`, "name", "choose another name")] : []),
    ...(preset === undefined
      ? []
      : [problem("a file does not hold a member's preset", "preset", "name it: agent: NAME")]),
  ];
}

/** Members that wait for a name that nobody has, or for each other. */
function checkOrder(members: Member[], source: YamlSource): Diagnostic[] {
  const names = members.map(({ name }) => name);
  const unknown = members.flatMap(({ name, after = [] }, index) =>
    after
      .filter((one) => !names.includes(one))
      .map((one) => ({
        code: "unknown-member",
        message: `no member is called "${one}"`,
        place: source.place(["team", "members", index, "after"]),
        help: didYouMean(
          one,
          names.filter((other) => other !== name),
        ),
      })),
  );
  if (unknown.length > 0) return unknown;
  let waiting = members;
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    const left = new Set(waiting.map(({ name }) => name));
    waiting = waiting.filter(({ after = [] }) => after.some((one) => left.has(one)));
  }
  const [first] = waiting;
  if (!first) return [];
  return [
    {
      code: "team-cycle",
      message: `these members wait for each other and never start: ${waiting.map(({ name }) => name).join(", ")}`,
      place: source.place(["team", "members", members.indexOf(first), "after"]),
      help: "remove one `after`",
    },
  ];
}

/** What an attempt of the team would not have for this member. */
function checkNeeds(
  { name }: Member,
  own: AgentPreset,
  {
    team,
    source,
    path,
    lost,
  }: { team: AgentPreset; source: YamlSource; path: Path; lost: ReadonlySet<string> },
): Diagnostic[] {
  const place = source.place(path);
  const differing = ofTeam
    .filter((field) => !lost.has(field) && own[field] !== undefined && own[field] !== team[field])
    .map((field) => ({
      code: "team-differs",
      message: `member "${name}" has the ${field} ${own[field]}, and the team ${team[field] === undefined ? "has none" : `has ${team[field]}`}`,
      place,
      help: `write ${field}: ${own[field]} in the team's preset, or choose another agent`,
    }));
  const claimed = (["trusted", "seeded"] as const)
    .filter((flag) => team[flag] === true && own[flag] !== true)
    .map((flag) => ({
      code: "team-differs",
      message: `the team is ${flag}, and member "${name}" is not`,
      place: source.place([flag]),
      help: `remove ${flag}: true from the team's preset`,
    }));
  const missing = lost.has("secrets")
    ? []
    : (own.secrets ?? [])
        .filter((one) => !team.secrets?.includes(one))
        .map((one) => ({
          code: "unknown-secret",
          message: `member "${name}" needs the secret ${one}, which is not among those of the team`,
          place,
          help: `write secrets: [${[...(team.secrets ?? []), one].join(", ")}] in the team's preset`,
        }));
  return [...differing, ...claimed, ...missing];
}
