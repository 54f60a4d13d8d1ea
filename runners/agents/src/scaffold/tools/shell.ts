import { closedObject, text } from "@mlrb/formats/schema";
import { programResult } from "../program-result.ts";
import { keptNumber, refused, tool } from "../tool.ts";

/** Linux takes 128 KiB in one argument of a program. */
const commandMax = 100_000;
/** Without a process besides the shell itself, so it can end programs that took all processes. */
const shellOf = 'if command -v bash > /dev/null; then exec bash -c "$1"; fi; exec sh -c "$1"';
export const secondsDefault = 600;

export const timeoutSeconds = {
  type: "integer",
  minimum: 1,
  maximum: 604_800,
  description: `Limit in seconds; ${secondsDefault} where none is given, at most what is left of the budget.`,
} as const;

export const shell = tool({
  name: "shell",
  description:
    "Runs a command in bash, in the workspace, and gives its exit code and output (stdout and stderr together). " +
    "Each call is a new shell: variables and the working directory do not last, files do. There is no input and no terminal. " +
    "A long output is shown by its beginning and end, and kept in outputs/. " +
    "For work that takes longer than a few minutes, start it in the background and look at its log later: " +
    "nohup python3 -u train.py > train.log 2>&1 &",
  input: closedObject({ command: { ...text, description: "What bash -c is given." }, timeoutSeconds }, [
    "command",
  ]),
  kept: keptNumber,
  async run({ command, timeoutSeconds: limitSeconds = secondsDefault }, world) {
    if (command.includes("\0")) return refused("a command cannot hold a zero byte");
    if (Buffer.byteLength(command) > commandMax)
      return refused(
        `a command may have ${commandMax} bytes; write the long text into a file with write_file`,
      );
    const number = ++world.files.count;
    const argv = ["sh", "-c", shellOf, "sh", command.toWellFormed()];
    return programResult(world, { argv, limitSeconds, number });
  },
});
