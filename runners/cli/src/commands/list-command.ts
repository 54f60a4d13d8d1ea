// `pipeline list`: prints pipelines, tasks, scorers, agents, judges, rubrics and sources.
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { refuseWords } from "../request/refuse.ts";
import { rememberedAnswer } from "../request/remembered-answer.ts";
import type { Item } from "../show/list-items.ts";
import { printJson } from "../show/print.ts";

const kinds = {
  pipelines: "pipeline",
  tasks: "task",
  scorers: "scorer",
  agents: "agent",
  judges: "judge",
  rubrics: "rubric",
  sources: "source",
} as const;

export async function listCommand(
  repository: string,
  what: string | undefined,
  options: { json: boolean },
): Promise<number> {
  if (what !== undefined && !Object.hasOwn(kinds, what))
    return refuseWords(
      `unknown-list: there is no list of "${what}"\n  help: ${didYouMean(what, Object.keys(kinds))}`,
    );
  let fresh: Item[] = [];
  const asked = { command: "list" };
  const held = await rememberedAnswer({ repository, root: repository, asked }, async (consulted) => {
    const { listItems } = await import("../show/list-items.ts");
    fresh = listItems(repository, consulted);
    return { keep: fresh };
  });
  const all = held ?? fresh;
  for (const [plural, kind] of Object.entries(kinds)) {
    if (what !== undefined && what !== plural) continue;
    const items = all.filter((item) => item.kind === kind);
    if (options.json) {
      for (const item of items) printJson({ event: "item", ...item });
      continue;
    }
    if (what === undefined) process.stdout.write(`${plural}\n`);
    for (const line of columnLines(items.map(({ name, title }) => [name, title])))
      process.stdout.write(`  ${line}\n`);
    if (what === undefined) process.stdout.write("\n");
  }
  return 0;
}
