// Declares the commands that look and change nothing. Each one's code is loaded only when it is asked for.
import type { Command } from "commander";
import type { DoctorOptions } from "./commands/doctor-command.ts";
import type { GraphOptions } from "./commands/graph-command.ts";
import type { ReportOptions } from "./commands/report-command.ts";
import type { CommonOptions } from "./request/request.ts";

type Declare = {
  repository: string;
  /** Adds the options that all commands on a pipeline have. */
  common: (command: Command) => Command;
  /** Gathers what a repeatable option is given. */
  collect: (value: string, before: string[]) => string[];
};

const pipelineWords = "a name in pipelines/, or a path";

export function lookingCommands(program: Command, { repository, common, collect }: Declare): void {
  common(program.command("status").argument("<pipeline>", pipelineWords))
    .description("how far it is: instances by state, what runs now, what failed, what to do next")
    .action(async (pipeline: string, options: CommonOptions) => {
      const { statusCommand } = await import("./commands/status-command.ts");
      process.exitCode = await statusCommand(repository, pipeline, options);
    });

  common(program.command("graph").argument("<pipeline>", pipelineWords))
    .description("the pipeline as a picture: stages, the artifacts between them, and their state")
    .option("--format <name>", "dot, mermaid or svg (default: by the name of --output, else dot)")
    .option("--instances", "every stage instance by itself; --only and --set narrow them", false)
    .option("--output <file>", "where to write it (default: stdout)")
    .action(async (pipeline: string, options: GraphOptions) => {
      const { graphCommand } = await import("./commands/graph-command.ts");
      process.exitCode = await graphCommand(repository, pipeline, options);
    });

  program
    .command("doctor")
    .argument("[pipeline]", pipelineWords, "full-benchmark")
    .description("what this machine has, what each profile lacks on it, and how to get it")
    .option(
      "--models",
      "also ask each agent's model for a word, to see whether it can be had; costs a few tokens",
      false,
    )
    .option("--root <dir>", "where .mlrb/ is to live (default: the repository)")
    .option("--json", "one JSON object a line on stdout", false)
    .action(async (pipeline: string, options: DoctorOptions) => {
      const { doctorCommand } = await import("./commands/doctor-command.ts");
      process.exitCode = await doctorCommand(repository, pipeline, options);
    });

  program
    .command("report")
    .argument("<pipeline>", pipelineWords)
    .description("the last report again, what it is of, and whether the plan has moved on since")
    .option("--profile <name>", "a profile of the pipeline (default: the one it marks)")
    .option("--set <axis=value,…>", "the report of a narrowed plan; repeatable", collect, [])
    .option("--groups", "also the parts of each task: subjects, paradigms, phenomena", false)
    .option("--open", "open it in the desktop's viewer", false)
    .option("--root <dir>", "where results/ lives (default: the repository)")
    .option("--json", "one JSON object a line on stdout", false)
    .action(async (pipeline: string, options: ReportOptions) => {
      const { reportCommand } = await import("./commands/report-command.ts");
      process.exitCode = await reportCommand(repository, pipeline, options);
    });

  program
    .command("completion")
    .argument("<shell>", "bash, zsh or fish")
    .description("what a shell is to be told so that it completes these commands")
    .action(async (shell: string) => {
      const { completionCommand } = await import("./commands/completion-command.ts");
      process.exitCode = completionCommand(shell);
    });

  program
    .command("complete", { hidden: true })
    .argument("[word...]")
    .action(async (words: string[]) => {
      const { completeCommand } = await import("./commands/complete-command.ts");
      await completeCommand(repository, program, words);
    });
}
