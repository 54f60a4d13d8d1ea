// Refuses a blank option or argument: most likely a shell variable was empty, and a blank pattern or selection
// would mean everything.
import { type Command, CommanderError } from "commander";

/** Called before a command's action. Throws CommanderError after printing what is blank. */
export async function refuseBlank(command: Command): Promise<void> {
  const options = Object.entries(command.opts()).map(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ]);
  // a blank pipeline is refused later, with the known names
  const given = command.registeredArguments.map((one, index) => [one.name(), command.processedArgs[index]]);
  const all = [...options, ...given.filter(([name]) => name !== "pipeline")];
  const blank = all.filter(([, value]) =>
    [value].flat().some((one) => typeof one === "string" && !one.trim()),
  );
  if (blank.length === 0) return;
  const { refuse } = await import("./refuse.ts");
  const problems = blank.map(([name]) => ({
    code: "blank-value",
    message: `${name} is blank`,
    help: "give it a value or omit it; a variable of your shell may be empty",
  }));
  refuse(problems, command.opts().json === true);
  throw new CommanderError(2, "commander.blank", "blank");
}
