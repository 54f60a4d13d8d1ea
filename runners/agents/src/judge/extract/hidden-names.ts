// Replaces the names of an attempt's agent, so that a judge does not know which agent it reads, in letters that only
// look like them too. Many names are ordinary words as well, so not each is specific enough:
// - a name with a digit (gpt-4o) is replaced with any separators or none
// - in a name of several words (claude-code), separators may be missing, but are spaces only between words of three
//   letters and more, so that the agent sample-a leaves "we sample a batch" as it is
// - one word needs four letters, is not the scaffold's (react is a method and a verb), and is no word of the
//   prompt, which is the same for all agents. With a version behind it (llama-3) it names another model.
// - an abbreviation of three letters (gpt) is replaced as a word of its own, not in code (gpt.py) or a compound
import { type AgentPreset, presetProviders } from "@mlrb/formats/declared/agent-preset";
import { foldedText, unseen } from "./folded-text.ts";

/** Shown for a name that models of other agents have too, or that a network of the task's own may have. */
export const anyModel = "a model";

type Preset = Partial<Pick<AgentPreset, "title" | "provider" | "model" | "planner" | "gateway" | "scaffold">>;

/** By what is shown instead. `agent`: the value of the axis, perhaps with a variant after @ or an allowance after +. */
export function agentNames(agent: string, preset: Preset): Record<string, string[]> {
  const { title = "", scaffold = "", model, planner, gateway = [] } = preset;
  const all = [model?.id, planner?.id, ...gateway.flatMap((one) => one.ids)];
  const ids = all.flatMap(modelNames);
  return {
    "the agent": [agent, agent.replace(/[@+].*/, ""), title],
    "the agent's model": [...ids, ...title.split(/[,()]/).filter((part) => /\d/.test(part))],
    [anyModel]: all.flatMap(seriesNames),
    "the agent's provider": presetProviders(preset),
    "the agent's scaffold": scaffold.includes("-") ? [scaffold] : [],
  };
}

/** Of an id also the part behind its owner, without a date. */
export function modelNames(id = ""): string[] {
  const last = lastPart(id);
  return [id, last, last.replace(/[-@]\d{4}-?\d\d-?\d\d.*$/, "")];
}

/** Words of ids that name an edition and no series. */
const editions =
  "command coder code instruct chat mini nano micro tiny small medium large plus pro max ultra base flash lite fast turbo preview latest exp experimental thinking reasoning vision audio video image text online distill".split(
    " ",
  );

/** What many models of a vendor are called, with its number and without: claude, sonnet, sonnet 4, claude 4.5. */
export function seriesNames(id = ""): string[] {
  const [undated = ""] = lastPart(id).split(/[-@]\d{4}/);
  const parts = undated.match(/\p{L}+|\p{N}+\p{L}?/gu) ?? [];
  const numbers = parts.filter((part) => /^\d/.test(part));
  const words = parts.filter((part) => /^\p{L}{3}/u.test(part) && !editions.includes(part.toLowerCase()));
  return words.flatMap((word) => ["", ...numbers].map((_, at) => [word, ...numbers.slice(0, at)].join(" ")));
}

function lastPart(id: string): string {
  return id.split(/\/|\.(?=[a-z])/i).at(-1)!;
}

/** `ordinary`: a text whose words name no agent. */
export function nameHider(names: Record<string, string[]>, ordinary: string): (text: string) => string {
  const known = new Set(ordinary.toLowerCase().match(/\p{L}+/gu));
  const hidden = Object.entries(names)
    .flatMap(([shown, all]) =>
      [...new Set(all)].map((name) => ({ shown, name, pattern: patternOf(name, known, shown === anyModel) })),
    )
    .filter(({ pattern }) => pattern !== undefined)
    .sort((a, b) => b.name.length - a.name.length);
  const any = hidden.map(({ pattern }) => `(${pattern})`).join("|") || "(?!)";
  // the n of an escaped line break is no letter of the next word
  const all = new RegExp(`(?<=^|[^\\p{L}\\p{N}]|\\\\[nrt])(?:${any})(?![\\p{L}\\p{N}])`, "giu");
  return (text) => {
    const folded = foldedText(text);
    let [out, last] = ["", 0];
    for (const { 0: name, index, ...groups } of folded.text.matchAll(all)) {
      const { shown } = hidden.find((_, at) => groups[at + 1] !== undefined)!;
      out += `${folded.pieces.slice(last, index).join("")}[${shown}]`;
      last = index + name.length;
    }
    return out + folded.pieces.slice(last).join("");
  };
}

function patternOf(name: string, ordinary: ReadonlySet<string>, isSeries: boolean): string | undefined {
  const words = foldedText(name).text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = words.join("");
  const hasDigit = /\p{N}/u.test(letters);
  const known = isSeries ? words[0]! : letters;
  if (!/\p{L}/u.test(letters) || ordinary.has(known.toLowerCase())) return undefined;
  const whole = words.map((word) => [...word].join(`${unseen}*`));
  const gap = `[-_.:/@\\s${unseen}]`;
  const apart = whole.join(`${gap}{0,3}`);
  if (hasDigit && isSeries) return `${apart}(?![-_. ]?\\d)`;
  if (hasDigit) return letters.length < 2 ? undefined : apart;
  if (/^[^aeiouy]{3}$/i.test(letters)) return `(?<![-_./])${whole[0]}(?![-_./]?\\w| ?[\\d(])`;
  if (letters.length < 4) return undefined;
  const spelt = [...letters].join(`[-_.*\\s${unseen}]{1,3}`);
  const version = words.length === 1 ? "(?![-_. ]?\\d)" : "";
  const joined = words.every((word) => word.length > 2) ? apart : whole.join("[-_.:/@]?");
  return `(?:${joined}|${spelt})${version}`;
}
