// Runs a tool's program and turns its end and output into a tool result. If the output is too long, a file of the
// workspace holds it whole.
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { clipText, shownText } from "./clip-text.ts";
import type { ProgramOutput } from "./program-output.ts";
import { runToolProgram, type ToolProgram } from "./run-tool-program.ts";
import type { ToolResult, ToolWorld } from "./tool.ts";
import { workspacePath } from "./workspace-path.ts";

/** `number` names the file in outputs/. Throws as runToolProgram does. */
export async function programResult(
  world: ToolWorld,
  { argv, limitSeconds, number }: ToolProgram & { number: number },
): Promise<ToolResult> {
  const { end, output } = await runToolProgram(world, { argv, limitSeconds });
  try {
    const { head, tail, bytes, kept } = output.end();
    const { line, ...result } = end;
    if (bytes === 0) return { ...result, text: `${line}\n(no output)` };
    const gap = bytes > head.length;
    const shown = { head: shownText(head), tail: gap ? shownText(tail) : "", gap };
    const whole = clipText(shown, "");
    if (!whole.clipped) return { ...result, text: `${line}\n${whole.text}` };
    const rest = end.ends ? undefined : await putOutput(world, output, number);
    const where =
      rest === undefined
        ? "the rest could not be kept: something in the workspace stands in the way of the folder outputs/"
        : `${kept < bytes ? `its first ${kept} bytes lie` : "all of it lies"} in ${rest}`;
    const { text } = clipText(shown, `the middle of ${bytes} bytes is left out; ${where}`);
    return { ...result, text: `${line}\n${text}`, ...(rest !== undefined && { rest }) };
  } finally {
    output.remove();
  }
}

async function putOutput(
  world: ToolWorld,
  output: ProgramOutput,
  number: number,
): Promise<string | undefined> {
  const name = `${outputName(world, number)}.txt`;
  try {
    await world.sandbox.put(output.file(), workspacePath(name, world).inside);
    return name;
  } catch (error) {
    if (isFullDisk(error)) throw error;
    return undefined;
  }
}

export function outputName({ board }: Pick<ToolWorld, "board">, number: number): string {
  return `outputs/${board ? `${board.member}-` : ""}${String(number).padStart(4, "0")}`;
}
