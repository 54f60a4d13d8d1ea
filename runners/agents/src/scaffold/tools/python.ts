import { closedObject, text } from "@mlrb/formats/schema";
import { outputName, programResult } from "../program-result.ts";
import { putText } from "../put-text.ts";
import { failed, keptNumber, refused, tool } from "../tool.ts";
import { workspacePath } from "../workspace-path.ts";
import { secondsDefault, timeoutSeconds } from "./shell.ts";

const codeMax = 1 << 20;

export const python = tool({
  name: "python",
  description:
    "Runs Python code as a program of its own, in the workspace, and gives its exit code and output. Nothing stays in memory " +
    "from one call to the next; print what you want to see. The code is kept in outputs/. Modules in the workspace can be imported. " +
    "For long work write a file and start it in the background with shell.",
  input: closedObject({ code: { ...text, description: "The program's text." }, timeoutSeconds }, ["code"]),
  kept: keptNumber,
  async run({ code, timeoutSeconds: limitSeconds = secondsDefault }, world) {
    if (code.length > codeMax)
      return refused(`code may have ${codeMax} characters; read long data from files`);
    const number = ++world.files.count;
    const name = `${outputName(world, number)}.py`;
    if (!(await putText(world, code, workspacePath(name, world).inside)))
      return failed(
        "the code could not be put into outputs/: something in the workspace stands in the way of that folder",
      );
    const path = [world.cwd, world.env.PYTHONPATH].filter(Boolean).join(":");
    const ours = { ...world, env: { ...world.env, PYTHONPATH: path } };
    // -u: the output of a program that is ended early is complete
    return programResult(ours, { argv: ["python3", "-u", name], limitSeconds, number });
  },
});
