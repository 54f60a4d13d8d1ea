// The program: arguments in, tables and progress out. Each command's code is loaded only when it is asked for.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import type { ExplainOptions } from "./commands/explain-command.ts";
import type { LogOptions as StageLogOptions } from "./commands/log-command.ts";
import type { PlanCommandOptions } from "./commands/plan-command.ts";
import type { ScoreOptions } from "./commands/score-command.ts";
import type { TraceOptions } from "./commands/trace-command.ts";
import { lookingCommands } from "./looking-commands.ts";
import { recordCommands } from "./record-commands.ts";
import { teachByExamples } from "./request/examples.ts";
import type { RunCommandOptions } from "./request/run-invocation.ts";
import { goOnWithoutOutput } from "./show/lost-output.ts";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

const program = new Command("pipeline")
  .usage("COMMAND")
  .description("Runs the ML Research Benchmark: attempts of AI agents in, tables out.")
  .helpCommand(false)
  .showHelpAfterError("(`pnpm pipeline --help` shows all commands)")
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .addHelpText(
    "after",
    `
Examples:
  pnpm pipeline run hello                              one task, one agent, one seed
  pnpm pipeline run full-benchmark                     every task, every agent; prints the tables
  pnpm pipeline plan full-benchmark                    what would run, and why
  pnpm pipeline status full-benchmark                  how far it is, what runs now, what to do next
  pnpm pipeline report full-benchmark                  the tables again, and whether the plan has moved on
  pnpm pipeline watch hello                            run it again whenever one of its files is edited
  pnpm pipeline doctor                                 what this machine lacks, and how to get it
  pnpm pipeline run full-benchmark --set agent=nop     another agent than the pipeline lists
  pnpm pipeline log 'attempt[task=baby-lm,seed=1]'     what a stage last said
  pnpm pipeline trace baby-lm bits-per-byte reference  what stands behind a number

\`pnpm pipeline COMMAND --help\` shows more of each.

Exit status: 0 all succeeded or reused, 1 a stage failed, 2 the request was invalid and nothing ran, 130 interrupted.`,
  );

const collect = (value: string, before: string[]) => [...before, value];

function stale(command: Command): Command {
  return command
    .addOption(new Option("--rerun", "run stale attempts again").conflicts("acceptStale"))
    .addOption(new Option("--accept-stale <reason>", "use stale attempts as they are; the tables say why"));
}

function common(command: Command): Command {
  return command
    .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
    .option("--only <pattern>", "instances to bring up to date, with what they need; repeatable", collect, [])
    .option("--set <axis=value,…>", "narrow an axis; repeatable", collect, [])
    .option("--executor <name>", "where stages run (today: local)")
    .option("--root <dir>", "where .mlrb/ and results/ live (default: the repository)")
    .option("--json", "one JSON object a line on stdout", false);
}

function runs(name: string, description: string): Command {
  const command = program.command(name).argument("<pipeline>", "a name in pipelines/, or a path");
  return stale(common(command))
    .description(description)
    .option("--jobs <n>", "how many CPUs to use (default: all)")
    .addOption(
      new Option("--keep-going", "after a failure, go on with what does not need it (default)").conflicts(
        "failFast",
      ),
    )
    .addOption(new Option("--fail-fast", "after a failure, start nothing more"))
    .option("--max-gpu-hours <n>", "GPU hours that new attempts may be expected to take (default: 0)")
    .option(
      "--max-cost <dollars>",
      "dollars that new attempts may be expected to cost (default: 0), and once said may spend together",
    )
    .option(
      "--price <model=input/output>",
      "what a model costs that runners/agents/prices.yaml lacks, in dollars for a million tokens; repeatable",
      collect,
      [],
    )
    .option("--take-over", "make attempts again that a run holds on another host which is gone", false)
    .option(
      "--unsafe-local",
      "run agents that nobody vouched for as plain processes of this host: they can read and do what you can",
      false,
    )
    .option("--yes", "start new attempts whatever they are expected to cost", false);
}

runs("run", "bring a pipeline up to date and print its tables")
  .option(
    "--audit",
    "run the selected stages again under strace, attempts apart, and list what each read and does not declare",
    false,
  )
  .action(async (pipeline: string, options: RunCommandOptions) => {
    const { runCommand } = await import("./commands/run-command.ts");
    process.exitCode = await runCommand(repository, pipeline, options);
  });

runs("watch", "run, and run again whenever something that the plan depends on is edited").action(
  async (pipeline: string, options: RunCommandOptions) => {
    const { watchCommand } = await import("./commands/watch-command.ts");
    const words = process.argv.slice(process.argv.indexOf("watch") + 1);
    process.exitCode = await watchCommand(repository, pipeline, { options, words });
  },
);

stale(common(program.command("plan").argument("<pipeline>", "a name in pipelines/, or a path")))
  .description("show what would run or be reused, and why; runs nothing")
  .option("--max-cost <dollars>", "as for run: what attempts may spend together")
  .option("--price <model=input/output>", "as for run: what a model costs; repeatable", collect, [])
  .action(async (pipeline: string, options: PlanCommandOptions) => {
    const { planCommand } = await import("./commands/plan-command.ts");
    process.exitCode = await planCommand(repository, pipeline, options);
  });

lookingCommands(program, { repository, common, collect });

program
  .command("score")
  .argument("<folder>", "a submission: what an agent would hand in")
  .requiredOption("--task <name>", "the task that it is a submission to")
  .description("validate and score any folder in a task's way, with floor and anchors beside")
  .option("--pipeline <name>", "the pipeline whose stages do it", "full-benchmark")
  .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
  .option("--jobs <n>", "how many CPUs to use (default: all)")
  .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (folder: string, options: ScoreOptions) => {
    const { scoreCommand } = await import("./commands/score-command.ts");
    process.exitCode = await scoreCommand(repository, folder, options);
  });

program
  .command("check")
  .argument("[file...]", "YAML files (default: every pipeline, task, scorer and agent preset)")
  .description("check YAML files; runs nothing")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (files: string[], options: { json: boolean }) => {
    const { checkCommand } = await import("./commands/check-command.ts");
    process.exitCode = await checkCommand(repository, files, options);
  });

program
  .command("list")
  .argument("[what]", "pipelines, tasks, scorers or agents (default: all four)")
  .description("list what there is")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (what: string | undefined, options: { json: boolean }) => {
    const { listCommand } = await import("./commands/list-command.ts");
    process.exitCode = await listCommand(repository, what, options);
  });

program
  .command("log")
  .argument("<stage>", "a stage instance, or a pattern such as 'score[agent=nop]'")
  .description("show what a stage said when it last ran; what would steer a terminal is spelt out")
  .option("--tail <lines>", "only the last lines")
  .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (stage: string, options: StageLogOptions) => {
    const { logCommand } = await import("./commands/log-command.ts");
    process.exitCode = await logCommand(repository, stage, options);
  });

program
  .command("explain")
  .argument("<stage>", "a stage instance, or a pattern such as 'score[agent=nop]'")
  .description("why an instance would run or be reused: its key, what changed, the chain upstream")
  .option("--pipeline <name>", "the pipeline it belongs to", "full-benchmark")
  .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
  .option("--set <axis=value,…>", "narrow an axis; repeatable", collect, [])
  .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (stage: string, options: ExplainOptions) => {
    const { explainCommand } = await import("./commands/explain-command.ts");
    process.exitCode = await explainCommand(repository, stage, options);
  });

program
  .command("trace")
  .argument(
    "<cell...>",
    "task, metric and agent as the tables name them, perhaps a seed; or a stage instance",
  )
  .description(
    "what stands behind a number: scripts, inputs, attempt, environment, host, log, and how to make it again",
  )
  .option("--pipeline <name>", "the pipeline it belongs to", "full-benchmark")
  .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
  .option("--set <axis=value,…>", "narrow an axis; repeatable", collect, [])
  .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (cell: string[], options: TraceOptions) => {
    const { traceCommand } = await import("./commands/trace-command.ts");
    process.exitCode = await traceCommand(repository, cell, options);
  });

recordCommands(program, repository);

teachByExamples(program);
program.hook("preAction", async (_, command) => {
  const { refuseBlank } = await import("./request/refuse-blank.ts");
  await refuseBlank(command);
});

goOnWithoutOutput({ stdout: process.stdout, stderr: process.stderr });

try {
  if (process.argv.length <= 2) {
    program.outputHelp();
    process.exitCode = 2;
  } else {
    await program.parseAsync();
  }
} catch (error) {
  const { code, exitCode, message, stack } = error as Error & { code?: string; exitCode?: number };
  if (code?.startsWith("commander.")) {
    process.exitCode = exitCode === 0 ? 0 : 2;
  } else {
    const { machineHelp, systemCode } = await import("@mlrb/local/run/machine-help");
    const help = machineHelp(systemCode(error as NodeJS.ErrnoException));
    // what the program foresaw is an Error with words for people, or the system's with a code
    const foreseen = code !== undefined || ((error as Error).name === "Error" && !message.startsWith("bug:"));
    process.stderr.write(
      foreseen
        ? `${help ? `${help} (${message})` : message}\n`
        : `${stack}\nThis is a fault of mlrb; please report it.\n`,
    );
    process.exitCode = 1;
  }
}
