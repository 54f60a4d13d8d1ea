// The program's commands as plain data, for completion.
import type { Command, Option } from "commander";

export type CommandShape = {
  name: string;
  description: string;
  /** In order; a repeating last argument takes all further words. */
  args: { name: string; repeats: boolean }[];
  options: OptionShape[];
  commands: CommandShape[];
};

export type OptionShape = { name: string; description: string; takesValue: boolean };

/** Leaves out hidden commands, which are for programs. */
export function commandShape(command: Command): CommandShape {
  return {
    name: command.name(),
    description: command.description(),
    args: command.registeredArguments.map((one) => ({ name: one.name(), repeats: one.variadic })),
    options: command.options.filter(({ hidden }) => !hidden).map(optionShape),
    commands: command
      .createHelp()
      .visibleCommands(command)
      .filter((one) => one.name() !== "help")
      .map((one) => commandShape(one)),
  };
}

function optionShape({ long, description, required, optional }: Option): OptionShape {
  return { name: long!, description, takesValue: required || optional };
}
