// Makes the program's commands of the table that declares them: help and what is refused follow from it.
import type { Command, Option } from "commander";
import { argumentWords } from "./command-options.ts";

type CommandCode = (repository: string, ...words: never[]) => number | Promise<number>;

export type CommandRow = {
  /** With its arguments. A command of a group has two words; the group's own row, without code, comes before. */
  name: string;
  /** What help says of it. */
  does: string;
  /** What its first argument is, if not as in other commands. */
  takes?: string;
  options?: Option[];
  /** A line each: what to type, ` # `, what it does. Each works in this repository as it is. */
  examples?: string;
  load?: () => Promise<CommandCode>;
};

/** A command's code gets its arguments and options, and returns the exit status. */
export function addCommands(program: Command, rows: CommandRow[], repository: string): void {
  for (const { name, does, takes, options = [], load } of rows) {
    const path = pathOf(name);
    const [last, group] = path.split(" ").reverse() as [string, string | undefined];
    const parent = program.commands.find((one) => one.name() === group) ?? program;
    const command = parent.command(last).description(does);
    for (const [at, flags] of name.slice(path.length).split(" ").slice(1).entries())
      command.argument(flags, (at === 0 ? takes : undefined) ?? argumentWords[flags]);
    for (const one of options) command.addOption(one);
    const examples = rows.filter((row) => `${row.name} `.startsWith(`${path} `)).flatMap(examplesOf);
    if (examples.length > 0) command.addHelpText("after", `\nExamples:\n${examples.join("\n")}`);
    if (!load) continue;
    command.action(async (...given) => {
      const run = await load();
      process.exitCode = await run(repository, ...(given.slice(0, -1) as never[]));
    });
  }
}

function pathOf(name: string): string {
  return name.replace(/ [<[].*/, "");
}

function examplesOf({ examples = "" }: CommandRow): string[] {
  const lines = examples.trim().split(/\n\s*/).filter(Boolean);
  return lines.map((line) => `  ${line.replace(" # ", "\n      ")}`);
}
