// The program: parses the arguments and starts a command, whose code is loaded only then.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { addCommands } from "./command-table.ts";
import { hostCommands } from "./host-commands.ts";
import { pipelineCommands } from "./pipeline-commands.ts";
import { recordCommands } from "./record-commands.ts";
import { inTypedForm, rememberProgram } from "./request/typed-program.ts";
import { continueWithoutOutput } from "./show/lost-output.ts";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

rememberProgram(process.env);
const program = new Command("pipeline")
  .usage("COMMAND")
  .description(
    "Runs the ML Research Benchmark: AI agents attempt research tasks, tables report their scores.",
  )
  .helpCommand(false)
  .showHelpAfterError("(`pnpm pipeline --help` shows all commands)")
  .option("-V, --version", "print the commit of this checkout and the version of Node")
  .exitOverride()
  .configureOutput({
    writeOut: (text) => process.stdout.write(inTypedForm(text)),
    writeErr: (text) => process.stderr.write(inTypedForm(text)),
    outputError: (text, write) => write(withAxisHelp(text)),
  })
  .configureHelp({
    showGlobalOptions: true,
    // commander's own would add "(default: false)" and "(default: [])" to every flag and list
    optionDescription: ({ description, defaultValue }) =>
      typeof defaultValue === "string" ? `${description} (default: ${defaultValue})` : description,
  })
  .addHelpText(
    "after",
    `
Examples:
  pnpm pipeline run hello                                  one task, one agent, one seed
  pnpm pipeline run full-benchmark                         every task and agent; prints the main table
  pnpm pipeline plan full-benchmark                        what would run, and why
  pnpm pipeline status full-benchmark                      progress, what runs now, what to do next
  pnpm pipeline report full-benchmark                      the last tables, and whether they are up to date
  pnpm pipeline watch hello                                run, and run again after each edit
  pnpm pipeline doctor                                     what this machine lacks, and how to install it
  pnpm pipeline run full-benchmark --set agent=nop         an agent that the pipeline does not list
  pnpm pipeline log 'attempt[task=baby-lm,seed=1]'         what a stage wrote when it last ran
  pnpm pipeline trace baby-lm bits-per-byte script-strong  what a number was made from

\`pnpm pipeline COMMAND --help\` lists the options of a command, with examples.

Exit status: 0 all succeeded or reused, 1 a stage failed, 2 the request was invalid and nothing ran, 130 interrupted.`,
  );

/** An unknown option may be an axis that was typed as an option: how to choose its values. */
function withAxisHelp(text: string): string {
  const [, axis, given] = /unknown option '--([\w-]+)(?:=(.*))?'/.exec(text) ?? [];
  const value = given ?? process.argv[process.argv.indexOf(`--${axis}`) + 1] ?? "VALUE";
  return axis ? text.replace("\n", `; an axis is chosen with --set ${axis}=${value}\n`) : text;
}

const versionWanted = "commander.version";
// also after a command: `run hello --version` must run nothing
program.on("option:version", () => {
  throw new CommanderError(0, versionWanted, "");
});

addCommands(program, [...pipelineCommands, ...hostCommands, ...recordCommands], repository);

program.hook("preAction", async (_, command) => {
  const { refuseBlank } = await import("./request/refuse-blank.ts");
  await refuseBlank(command);
});

continueWithoutOutput({ stdout: process.stdout, stderr: process.stderr });

try {
  if (process.argv.length <= 2) {
    program.outputHelp();
    process.exitCode = 2;
  } else {
    await program.parseAsync();
  }
} catch (error) {
  const { code, exitCode, message, stack } = error as Error & { code?: string; exitCode?: number };
  if (code === versionWanted) {
    const { versionText } = await import("./show/checkout.ts");
    process.stdout.write(versionText());
    process.exitCode = 0;
  } else if (code?.startsWith("commander.")) {
    process.exitCode = exitCode === 0 ? 0 : 2;
  } else {
    const { machineHelp, systemCode } = await import("@mlrb/local/run/machine-help");
    const help = machineHelp(systemCode(error as NodeJS.ErrnoException));
    // an expected failure is an Error with a message for people, or a system error with a code
    const foreseen = code !== undefined || ((error as Error).name === "Error" && !message.startsWith("bug:"));
    process.stderr.write(
      foreseen
        ? inTypedForm(`${help ? `${help} (${message})` : message}\n`)
        : `${stack}\nThis is a bug in mlrb; please report it.\n`,
    );
    process.exitCode = 1;
  }
}
