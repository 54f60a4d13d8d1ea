// Options and arguments that several commands have, and how a command's code is loaded: when the command is called.
import { type Command, Option } from "commander";

type CommandCode = (repository: string, ...words: never[]) => number | Promise<number>;

/** An action: loads the command's code, calls it with arguments and options, and sets the exit status that it returns. */
export type Loads = (load: () => Promise<CommandCode>) => (...words: unknown[]) => Promise<void>;

export function loadsIn(repository: string): Loads {
  return (load) =>
    async (...words) => {
      const run = await load();
      process.exitCode = await run(repository, ...(words.slice(0, -1) as never[]));
    };
}

export const pipelineArgument = ["<pipeline>", "a name in pipelines/, or a path"] as const;

const collect = (value: string, before: string[]) => [...before, value];

export function withPlace(command: Command): Command {
  return command
    .option("--root <dir>", "folder of .mlrb/ and results/ (default: the repository)")
    .option("--json", "print one JSON object per line", false);
}

export function withProfile(command: Command): Command {
  return command.option(
    "--profile <name>",
    "profile of the pipeline (default: the one marked `default: true`)",
  );
}

/** `what`: what the selected values decide. */
export function withSet(command: Command, what = "select the values of an axis"): Command {
  return command.option("--set <axis=value,…>", `${what}; repeatable`, collect, []);
}

/** The options of all commands that plan a pipeline. */
export function withSelection(command: Command): Command {
  const only = "only these stage instances and what they need; repeatable";
  withSet(withProfile(command).option("--only <pattern>", only, collect, []));
  command.option(
    "--skip-reference-models",
    "start attempts without a check of reference models on this host; the tables print it",
    false,
  );
  return withPlace(withExecutor(command));
}

export function withExecutor(command: Command): Command {
  return command.option("--executor <name>", "where stages run: local, docker or slurm");
}

/** The options of commands that look at stages of one pipeline. */
export function withPipeline(command: Command, what: string): Command {
  return withPlace(withSet(withProfile(command.option("--pipeline <name>", what, "full-benchmark"))));
}

/** One name for it in every command whose text is short by default. */
export function withAll(command: Command, what: string): Command {
  return command.option("--all", what, false);
}

export function withStalePolicy(command: Command): Command {
  return command
    .addOption(new Option("--rerun", "run stale attempts again").conflicts("acceptStale"))
    .addOption(
      new Option("--accept-stale <reason>", "use stale attempts as they are; the tables print the reason"),
    );
}

export function withPrices(command: Command, what: { maxCost: string; price: string }): Command {
  return command
    .option("--max-cost <dollars>", what.maxCost)
    .option("--price <model=input/output[/cached]>", `${what.price}; repeatable`, collect, []);
}

/** What may begin or continue paid attempts without a question. */
export function withConsent(command: Command, { maxCost }: { maxCost: string }): Command {
  return withPrices(
    command
      .option("--max-gpu-hours <hours>", "start it without a question up to this many GPU hours")
      .option("--yes", "start it without a question", false),
    { maxCost, price: "dollars per million tokens, for models without a known price" },
  );
}

export function withJobs(command: Command): Command {
  return command.option("--jobs <n>", "number of CPUs to use (default: all)");
}
