// Options and arguments that several commands have.
import { Option } from "commander";

/** An option without a value is false unless it is given. */
export function option(flags: string, what: string): Option {
  const made = new Option(flags, what);
  return flags.includes("<") ? made : made.default(false);
}

/** An option that may be given several times. */
function list(flags: string, what: string): Option {
  const collect = (value: string, before: string[]) => [...before, value];
  return new Option(flags, `${what}; repeatable`).default([]).argParser(collect);
}

export const pipelineWords = "a name in pipelines/, or a path";
export const attemptWords =
  "an attempt as `attempts list` names it, or its stage instance or pattern; quote it";

/** What an argument is, where its command does not say it. */
export const argumentWords: Record<string, string> = {
  "<pipeline>": pipelineWords,
  "[pipeline]": `${pipelineWords} (default: full-benchmark)`,
  "<stage>": "a stage instance, or a pattern such as 'score[agent=nop]'",
  "<attempt>": attemptWords,
  "[attempt]": `${attemptWords} (default: the one that runs)`,
  "[record...]": "the beginnings of records' digests (default: all)",
  "[source...]": "sources, as `list sources` names them (default: all)",
};

export const json = option("--json", "print one JSON object per line");
export const place = [
  option("--root <dir>", "folder of .mlrb/ and results/ (default: the repository)"),
  json,
];

export const profile = option(
  "--profile <name>",
  "profile of the pipeline (default: the one marked `default: true`)",
);
export const set = (what = "select the values of an axis") => list("--set <axis=value,…>", what);
export const executor = option("--executor <name>", "where stages run: local, docker or slurm");
export const jobs = option("--jobs <n>", "number of CPUs to use (default: all)");

/** Of all commands that plan a pipeline. */
export const selection = [
  profile,
  list("--only <pattern>", "only these stage instances and what they need"),
  set(),
  option("--skip-reference-models", "start attempts without their check on this host; tables print it"),
  option("--live-tools", "run the tools of replays again; by default their results are recorded"),
  executor,
  ...place,
];

/** Of commands that look at stages of one pipeline. */
export const ofPipeline = (what: string) => [
  option("--pipeline <name>", what).default("full-benchmark"),
  profile,
  set(),
  ...place,
];

/** One name for it in every command whose text is short by default. */
export const all = (what: string) => option("--all", what);

export const stalePolicy = [
  option("--rerun", "run stale attempts again").conflicts("acceptStale"),
  option("--accept-stale <reason>", "use stale attempts as they are; the tables print the reason"),
];

export const prices = (what: { maxCost: string; price: string }) => [
  option("--max-cost <dollars>", what.maxCost),
  list("--price <model=input/output[/cached]>", what.price),
];
