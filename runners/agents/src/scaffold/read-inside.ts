// Reads text files of the workspace in pieces through the sandbox's port, which opens no link and no device: a file of any
// size takes bounded memory.
import type { ToolWorld } from "./tool.ts";
import type { WorkspacePath } from "./workspace-path.ts";

const pieceBytes = 1 << 20;

type Path = Exclude<WorkspacePath, { refused: string }>;

export type PieceReader = (from: number) => Promise<Uint8Array | { refused: string }>;

/** Reads pieces of a file; an empty piece is the end. */
export function pieces({ sandbox }: Pick<ToolWorld, "sandbox">, { inside, shown }: Path): PieceReader {
  return async (from) => {
    const bytes = await sandbox.get(inside, { from, bytesMax: pieceBytes });
    if (!bytes)
      return {
        refused: `there is no file ${shown}, or it is a folder, a device, or lies behind a link; \`ls -la\` shows which`,
      };
    if (bytes.includes(0)) return { refused: `${shown} is no text; look at it with a program` };
    return bytes;
  };
}

/** The whole text of a file small enough to be edited. */
export async function wholeText(
  world: Pick<ToolWorld, "sandbox">,
  path: Path,
): Promise<string | { refused: string }> {
  const read = pieces(world, path);
  const first = await read(0);
  if ("refused" in first) return first;
  if (first.length === pieceBytes)
    return { refused: `${path.shown} has ${pieceBytes} bytes or more; change it with a program, e.g. sed` };
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(first);
  } catch {
    return { refused: `${path.shown} is no UTF-8 text; change it with a program` };
  }
}
