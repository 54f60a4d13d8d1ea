// Reads text files of the workspace in pieces through the sandbox's port, which opens no link and no device: a
// file of any size takes bounded memory.
import { Refusal, type ToolWorld } from "./tool.ts";
import type { WorkspacePath } from "./workspace-path.ts";

const pieceBytes = 1 << 20;

/** Reads a piece of a file; an empty piece is the end. Throws Refusal. */
export async function pieceOf(
  { sandbox }: ToolWorld,
  { inside, shown }: WorkspacePath,
  from: number,
): Promise<Uint8Array> {
  const bytes = await sandbox.get(inside, { from, bytesMax: pieceBytes });
  if (!bytes)
    throw new Refusal(
      `there is no file ${shown}, or it is a folder, a device, or lies behind a link; \`ls -la\` shows which`,
    );
  if (bytes.includes(0)) throw new Refusal(`${shown} is no text; look at it with a program`);
  return bytes;
}

/** The whole text of a file small enough to be edited. Throws Refusal. */
export async function wholeText(world: ToolWorld, path: WorkspacePath): Promise<string> {
  const first = await pieceOf(world, path, 0);
  if (first.length === pieceBytes)
    throw new Refusal(`${path.shown} has ${pieceBytes} bytes or more; change it with a program, e.g. sed`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(first);
  } catch {
    throw new Refusal(`${path.shown} is no UTF-8 text; change it with a program`);
  }
}
