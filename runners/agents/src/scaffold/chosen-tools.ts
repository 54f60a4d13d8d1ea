// Chooses a scaffold's tools by their names.
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { ScaffoldRequest } from "./scaffold.ts";
import type { Tool } from "./tool.ts";
import { boardTools } from "./tools/board.ts";
import { editFile } from "./tools/edit-file.ts";
import { fetchUrl } from "./tools/fetch-url.ts";
import { iteration } from "./tools/iteration.ts";
import { note } from "./tools/note.ts";
import { python } from "./tools/python.ts";
import { shell } from "./tools/shell.ts";
import { viewFile } from "./tools/view-file.ts";
import { writeFile } from "./tools/write-file.ts";

/** Tools for the work; a preset may leave out any of them. */
const doing = [shell, python, viewFile, editFile, writeFile, fetchUrl, note, iteration];
const needNetwork = [fetchUrl];

/** A member of a team has those of the message board too. */
export function chosenTools({
  tools,
  network,
  board,
}: Pick<ScaffoldSpec, "tools"> & Pick<ScaffoldRequest, "network" | "board">): Tool[] {
  const chosen = doing.filter(
    (one) =>
      (tools === undefined || tools.includes(one.spec.name)) && (network || !needNetwork.includes(one)),
  );
  return [...chosen, ...(board ? boardTools : [])];
}
