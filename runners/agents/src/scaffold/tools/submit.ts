import { partialObject } from "@mlrb/formats/schema";
import { runToolProgram } from "../run-tool-program.ts";
import { tool } from "../tool.ts";

export const submit = tool({
  name: "submit",
  description:
    "Hands in what lies in submission/ and ends the attempt, also where budget is left. Call it when nothing that you could still do is worth doing.",
  input: partialObject({}),
  restarted: "repeats",
  kept(result, { warned }) {
    if (result.outcome !== "refused") return { ...result, ends: { kind: "submitted" } };
    warned.emptySubmission = true;
    return result;
  },
  async run(_, world) {
    if (!world.warned.emptySubmission && (await isEmpty(world))) {
      world.warned.emptySubmission = true;
      return {
        outcome: "refused",
        text: "submission/ holds no file. TASK.md says what is to be handed in; an empty submission counts as none. Fill it, or call submit again to hand in nothing.",
      };
    }
    return { outcome: "done", text: "handed in", ends: { kind: "submitted" } };
  },
});

async function isEmpty(world: Parameters<typeof runToolProgram>[0]): Promise<boolean> {
  const command = 'test -z "$(find submission/ -type f -print 2>/dev/null | head -n 1)"';
  const { end, output } = await runToolProgram(world, { argv: ["sh", "-c", command], limitSeconds: 60 });
  output.remove();
  return end.outcome === "done";
}
