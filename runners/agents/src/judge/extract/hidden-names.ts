// Replaces the names of an attempt's agent, so that a judge does not know which agent it reads. Many names are
// ordinary words too, so not each is specific enough:
// - a name with a digit (gpt-4o) is replaced in any case, with any separators or none
// - in a name of several words (claude-code), a space separates only words of three letters and more, so that the
//   agent sample-a leaves "we sample a batch" as it is
// - one word needs four letters, is not the scaffold's (react is a method and a verb), and is no word of the
//   prompt, which is the same for all agents. With a version behind it (llama-3) it names another model.
import { type AgentPreset, presetProviders } from "@mlrb/formats/declared/agent-preset";

type Preset = Partial<Pick<AgentPreset, "title" | "provider" | "model" | "planner" | "gateway" | "scaffold">>;

/** By what is shown instead of them. `agent`: the value of the axis, perhaps with a variant after @. */
export function agentNames(agent: string, preset: Preset): Record<string, string[]> {
  const { title = "", scaffold = "", model, planner, gateway = [] } = preset;
  const ids = [model?.id, planner?.id, ...gateway.flatMap((one) => one.ids)].flatMap(modelNames);
  return {
    "the agent": [agent, agent.replace(/@.*/, ""), title],
    "the agent's model": [...ids, ...title.split(/[,()]/).filter((part) => /\d/.test(part))],
    "the agent's provider": presetProviders(preset),
    "the agent's scaffold": scaffold.includes("-") ? [scaffold] : [],
  };
}

/** Of an id also the part behind its owner, without a date, and the family. */
export function modelNames(id = ""): string[] {
  const last = id.split(/\/|\.(?=[a-z])/i).at(-1)!;
  return [id, last, last.replace(/[-@]\d{4}-?\d\d-?\d\d.*$/, ""), /^[a-z]*/i.exec(last)![0]];
}

/** `ordinary`: a text whose words name no agent. */
export function nameHider(names: Record<string, string[]>, ordinary: string): (text: string) => string {
  const known = new Set(ordinary.toLowerCase().match(/\p{L}+/gu));
  const hidden = Object.entries(names)
    .flatMap(([shown, all]) =>
      [...new Set(all)].map((name) => ({ shown, name, pattern: patternOf(name, known) })),
    )
    .filter(({ pattern }) => pattern !== undefined)
    .sort((a, b) => b.name.length - a.name.length);
  const any = hidden.map(({ pattern }) => `(${pattern})`).join("|") || "(?!)";
  // the n of an escaped line break is no letter of the next word
  const all = new RegExp(`(?<=^|[^\\p{L}\\p{N}]|\\\\[nrt])(?:${any})(?![\\p{L}\\p{N}])`, "giu");
  const shownFor = (groups: unknown[]) => hidden[groups.findIndex((one) => one !== undefined)]!.shown;
  return (text) => text.replace(all, (_, ...groups) => `[${shownFor(groups)}]`);
}

function patternOf(name: string, ordinary: ReadonlySet<string>): string | undefined {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = words.join("");
  const hasDigit = /\p{N}/u.test(letters);
  if (letters.length < (hasDigit ? 2 : 4) || !/\p{L}/u.test(letters) || ordinary.has(letters.toLowerCase()))
    return undefined;
  if (hasDigit) return words.join("[-_.:/@\\s]{0,2}");
  if (words.length === 1) return `${letters}(?![-_. ]?\\d)`;
  return words.join(words.every((word) => word.length > 2) ? "[-_.:/@ ]?" : "[-_.:/@]?");
}
