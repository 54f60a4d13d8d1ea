import { anyText, closedObject, text } from "@mlrb/formats/schema";
import { wholeText } from "../read-inside.ts";
import { refused, tool } from "../tool.ts";
import { workspacePath } from "../workspace-path.ts";
import { writeInside } from "../write-inside.ts";
import { path } from "./view-file.ts";

export const editFile = tool({
  name: "edit_file",
  description:
    "Replaces one piece of a text file of the workspace by another. The piece must stand there exactly once, spaces and line ends included; " +
    "give enough lines around it.",
  input: closedObject(
    {
      path,
      old: { ...text, description: "The piece as it stands in the file, without line numbers." },
      new: { ...anyText, description: "What is to stand there." },
    },
    ["path", "old", "new"],
  ),
  async run({ path: asked, old, new: put }, world) {
    const found = workspacePath(asked, world);
    const before = await wholeText(world, found);
    const times = count(before, old);
    if (times === 0)
      return refused(
        `"old" does not stand in ${found.shown}; view_file shows what does (its line numbers are no part of it)`,
      );
    if (times > 1)
      return refused(
        `"old" stands ${times} times in ${found.shown}; give more lines around the one that you mean`,
      );
    const at = before.indexOf(old);
    const after = before.slice(0, at) + put + before.slice(at + old.length);
    const trouble = await writeInside(world, found, { text: after, how: "replace" });
    if (trouble) return trouble;
    const line = before.slice(0, at).split("\n").length;
    return { outcome: "done", text: `${found.shown} changed at line ${line}` };
  },
});

/** Counts overlapping places too: each could be meant. */
function count(text: string, piece: string): number {
  let times = 0;
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) times++;
  return times;
}
