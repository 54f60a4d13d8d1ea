import { anyText, closedObject } from "@mlrb/formats/schema";
import { refused, tool } from "../tool.ts";
import { workspacePath } from "../workspace-path.ts";
import { writeInside } from "../write-inside.ts";
import { path } from "./view-file.ts";

const textMax = 4 << 20;

export const writeFile = tool({
  name: "write_file",
  description:
    "Writes a text file of the workspace, in place of what was there. Missing folders are made. data/ and models/ are read-only.",
  input: closedObject({ path, text: { ...anyText, description: "All of its text." } }, ["path", "text"]),
  restarted: "repeats",
  async run({ path: asked, text }, world) {
    const found = workspacePath(asked, world);
    if (text.length > textMax)
      return refused(`a text may have ${textMax} characters; write more with a program`);
    const trouble = await writeInside(world, found, { text, how: "replace" });
    if (trouble) return trouble;
    return { outcome: "done", text: `${found.shown} written: ${Buffer.byteLength(text)} bytes` };
  },
});
