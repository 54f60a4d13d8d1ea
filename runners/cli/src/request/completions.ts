// Candidates for the word at the cursor: commands, options, and the names that an option or argument takes.
// Pure except for `names`, which is called only for the kind of name needed.
import type { Command, Option } from "commander";

export type Candidate = { value: string; description?: string };

/** Finds the names of a kind; `asked` holds the pipeline and profile typed so far. */
export type Names = (kind: NameKind, asked: TypedNames) => Promise<Candidate[]>;

export type NameKind = "pipelines" | "profiles" | "axes" | "stages" | "tasks" | "executors";

export type TypedNames = { pipeline?: string; profile?: string };

const ofOption: Record<string, NameKind | string[]> = {
  "--profile": "profiles",
  "--set": "axes",
  "--only": "stages",
  "--task": "tasks",
  "--pipeline": "pipelines",
  "--judged": "pipelines",
  "--executor": "executors",
  "--format": ["inspect", "atif"],
  "--verdict": ["pass", "fail"],
};

const ofArgument: Record<string, NameKind | string[]> = {
  pipeline: "pipelines",
  stage: "stages",
  what: ["pipelines", "tasks", "scorers", "agents", "judges", "rubrics", "sources"],
  shell: ["bash", "zsh", "fish"],
};

/**
 * `words`: the program's arguments; the last one may be incomplete. Without candidates the shell completes file
 * names.
 */
export async function completions(
  words: string[],
  { program, names }: { program: Command; names: Names },
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  const { command, given, waiting, asked } = walk(words.slice(0, -1), program);
  if (waiting) return await ofKind(ofOption[waiting.long!], { typed, asked, names });
  if (typed.startsWith("-")) {
    const options = command.options.filter(({ hidden }) => !hidden);
    const named = options.map(({ long, description }) => ({ value: long!, description }));
    return [...named, { value: "--help", description: "how to use it" }].filter(begins(typed));
  }
  if (command.commands.length > 0) {
    if (given > 0) return [];
    // hidden commands are for programs
    const shown = command.createHelp().visibleCommands(command);
    return shown
      .map((one) => ({ value: one.name(), description: one.description() }))
      .filter(({ value }) => value !== "help" && value.startsWith(typed));
  }
  const taken = command.registeredArguments;
  const argument = taken[given] ?? taken.at(-1);
  if (!argument || (given >= taken.length && !argument.variadic)) return [];
  return await ofKind(ofArgument[argument.name()], { typed, asked, names });
}

/** `given`: how many arguments have been typed. `waiting`: the option whose value comes next. */
function walk(words: string[], program: Command) {
  let command = program;
  let given = 0;
  let waiting: Option | undefined;
  const asked: TypedNames = {};
  for (const word of words) {
    if (waiting) {
      if (waiting.long === "--profile") asked.profile = word;
      if (waiting.long === "--pipeline" || waiting.long === "--judged") asked.pipeline = word;
      waiting = undefined;
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (option) {
      if (option.required || option.optional) waiting = option;
      continue;
    }
    if (word.startsWith("-")) continue;
    const next = given === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (next) {
      command = next;
      continue;
    }
    if (command.registeredArguments[given]?.name() === "pipeline") asked.pipeline = word;
    given++;
  }
  return { command, given, waiting, asked };
}

type Wanted = { typed: string; asked: TypedNames; names: Names };

async function ofKind(
  kind: NameKind | string[] | undefined,
  { typed, asked, names }: Wanted,
): Promise<Candidate[]> {
  if (kind === undefined) return [];
  if (typeof kind !== "string") return kind.map((value) => ({ value })).filter(begins(typed));
  const found = await names(kind, asked);
  return kind === "axes" ? axisCandidates(found, typed) : found.filter(begins(typed));
}

/**
 * From `task=a`, `task=b`, `seed=1`: first the axes, then the values of the typed axis, then further values after
 * each comma.
 */
function axisCandidates(points: Candidate[], typed: string): Candidate[] {
  const at = typed.indexOf("=");
  const axisOf = ({ value }: Candidate) => value.slice(0, value.indexOf("=") + 1);
  if (at < 0) return [...new Set(points.map(axisOf))].map((value) => ({ value })).filter(begins(typed));
  const before = typed.slice(0, Math.max(at, typed.lastIndexOf(",")) + 1);
  const axis = typed.slice(0, at + 1);
  const named = new Set(before.slice(at + 1).split(","));
  return points
    .filter((point) => axisOf(point) === axis)
    .map(({ value }) => value.slice(axis.length))
    .filter((value) => !named.has(value))
    .map((value) => ({ value: before + value }))
    .filter(begins(typed));
}

function begins(typed: string): (candidate: Candidate) => boolean {
  return ({ value }) => value.startsWith(typed);
}
