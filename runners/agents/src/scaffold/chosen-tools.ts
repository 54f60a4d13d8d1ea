// Chooses a scaffold's tools by their names.
import type { Tool } from "./tool.ts";
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

export function chosenTools({ tools, network }: { tools?: string[]; network: boolean }): Tool[] {
  return doing.filter(
    (one) =>
      (tools === undefined || tools.includes(one.spec.name)) && (network || !needNetwork.includes(one)),
  );
}
