// The program: arguments in, tables and progress out. Each command's code is loaded only when it is asked for.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import type { CommonOptions } from "./request.ts";

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
  pnpm pipeline run full-benchmark --set agent=nop     another agent than the pipeline lists
  pnpm pipeline log 'attempt[task=baby-lm,seed=1]'     what a stage last said

Exit status: 0 all succeeded or reused, 1 a stage failed, 2 the request was invalid and nothing ran, 130 interrupted.`,
  );

const collect = (value: string, before: string[]) => [...before, value];

function common(command: Command): Command {
  return command
    .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
    .option("--only <pattern>", "instances to bring up to date, with what they need; repeatable", collect, [])
    .option("--set <axis=value,…>", "narrow an axis; repeatable", collect, [])
    .option("--executor <name>", "where stages run (today: local)")
    .option("--root <dir>", "where .mlrb/ and results/ live (default: the repository)")
    .option("--json", "one JSON object a line on stdout", false);
}

common(program.command("run").argument("<pipeline>", "a name in pipelines/, or a path"))
  .description("bring a pipeline up to date and print its tables")
  .option("--jobs <n>", "how many CPUs to use (default: all)")
  .addOption(
    new Option("--keep-going", "after a failure, go on with what does not need it (default)").conflicts(
      "failFast",
    ),
  )
  .addOption(new Option("--fail-fast", "after a failure, start nothing more"))
  .action(async (pipeline: string, options: CommonOptions & { jobs?: string; failFast?: boolean }) => {
    const { runCommand } = await import("./run-command.ts");
    process.exitCode = await runCommand(repository, pipeline, options);
  });

common(program.command("plan").argument("<pipeline>", "a name in pipelines/, or a path"))
  .description("show what would run or be reused, and why; runs nothing")
  .action(async (pipeline: string, options: CommonOptions) => {
    const { planCommand } = await import("./plan-command.ts");
    process.exitCode = await planCommand(repository, pipeline, options);
  });

program
  .command("check")
  .argument("[file...]", "YAML files (default: every pipeline, task, scorer and agent preset)")
  .description("check YAML files; runs nothing")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (files: string[], options: { json: boolean }) => {
    const { checkCommand } = await import("./check-command.ts");
    process.exitCode = checkCommand(repository, files, options);
  });

program
  .command("list")
  .argument("[what]", "pipelines, tasks, scorers or agents (default: all four)")
  .description("list what there is")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (what: string | undefined, options: { json: boolean }) => {
    const { listCommand } = await import("./list-command.ts");
    process.exitCode = listCommand(repository, what, options);
  });

program
  .command("log")
  .argument("<stage>", "a stage instance, or a pattern such as 'score[agent=nop]'")
  .description("show what a stage said when it last ran")
  .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
  .option("--json", "one JSON object a line on stdout", false)
  .action(async (stage: string, options: { root?: string; json: boolean }) => {
    const { logCommand } = await import("./log-command.ts");
    process.exitCode = logCommand(repository, stage, options);
  });

// A reader that leaves (`| head`, a closed terminal) has seen enough. The run goes on to its end: stages
// would outlive a program that stopped here, and its exit status would be no longer theirs.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    stream.write = () => true;
  });
}

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
    process.stderr.write(
      `${message.startsWith("bug:") ? `${stack}\nThis is a fault of mlrb; please report it.` : message}\n`,
    );
    process.exitCode = 1;
  }
}
