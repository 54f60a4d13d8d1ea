// The commands on the checkout and this machine.
import { executor, json, option, place, prices, profile, set } from "./command-options.ts";
import type { CommandRow } from "./command-table.ts";

export const hostCommands: CommandRow[] = [
  {
    name: "check [file...]",
    does: "check YAML files; runs nothing",
    takes: "YAML files (default: every pipeline, task, scorer, agent preset, rubric and source)",
    options: [json],
    examples: `
      pnpm pipeline check # every problem of every YAML file
      pnpm pipeline check tasks/baby-lm/task.yaml # the problems of one file`,
    load: async () => (await import("./commands/check-command.ts")).checkCommand,
  },
  {
    name: "list [what]",
    does: "list pipelines, tasks, scorers, agents, judges, rubrics and sources",
    takes: "pipelines, tasks, scorers, agents, judges, rubrics or sources (default: all)",
    options: [json],
    examples: `
      pnpm pipeline list # pipelines, tasks, scorers and agents
      pnpm pipeline list scorers --json # one kind, as JSON`,
    load: async () => (await import("./commands/list-command.ts")).listCommand,
  },
  {
    name: "doctor [pipeline]",
    does: "show what this machine has, what each profile lacks, and how to install it",
    options: [
      profile,
      set(),
      ...place,
      executor,
      ...prices({
        maxCost: "with --models: also ask for a tool call; all may cost this many dollars",
        price: "with --max-cost: price of a model",
      }),
      option(
        "--models [agents]",
        "also check that models answer, of all agents or of these (a,b); costs tokens",
      ),
      option("--yes", "with --models: also ask for a tool call, without a limit on the cost"),
    ],
    examples: `
      pnpm pipeline doctor # which profiles of full-benchmark can run here, and what is missing
      pnpm pipeline doctor --profile paper --set task=baby-lm # what this machine lacks for one profile, with these values
      pnpm pipeline doctor --models gpt-4o,claude-3-5-sonnet # whether the models of these agents answer
      pnpm pipeline doctor --profile paper --models --max-cost 1 # also whether the models of its agents call tools, for at most a dollar
      pnpm pipeline doctor hello --root /scratch/mlrb # another pipeline, with .mlrb/ on another disk`,
    load: async () => (await import("./commands/doctor-command.ts")).doctorCommand,
  },
  {
    name: "diagnose [pipeline]",
    does: "write versions, doctor, plan, journals and logs as one archive without keys and private rows",
    options: [
      profile,
      set(),
      ...place,
      option("--output <file>", "the archive, e.g. bundle.tar.gz (default: in .mlrb/diagnostics/)"),
    ],
    examples: `
      pnpm pipeline diagnose full-benchmark --profile shakedown # an archive in .mlrb/diagnostics/
      pnpm pipeline diagnose full-benchmark --output ../bundle.tar.gz # of the default profile, elsewhere`,
    load: async () => (await import("./diagnose/diagnose-command.ts")).diagnoseCommand,
  },
];
