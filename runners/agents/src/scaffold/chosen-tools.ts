// Chooses a scaffold's tools by their names.
import type { ToolSpec } from "../model/model-client.ts";
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

export const toolNames: string[] = doing.map(({ spec }) => spec.name);

export type ToolChoice = { tools?: string[]; network: boolean };

/** Throws if a preset names an unknown tool. */
export function chosenTools({ tools, network }: ToolChoice): Tool[] {
  const unknown = (tools ?? []).filter((name) => !toolNames.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `the preset names unknown tools: ${unknown.join(", ")}; known tools: ${toolNames.join(", ")}`,
    );
  return doing.filter(
    (one) =>
      (tools === undefined || tools.includes(one.spec.name)) && (network || !needNetwork.includes(one)),
  );
}

export const specsOf = (tools: Tool[]): ToolSpec[] => tools.map(({ spec }) => spec);
