// Placeholders in a pipeline's text: `{task}`, `{task.budget.time}`, `{params.data}`, `{inputs.public}`.
// Inner ones are filled first, so `{task.budget.{params.data}.time}` selects by a parameter. Text that
// is one placeholder and nothing else keeps the value's type; a value is not searched for more. `${NAME}` is the shell's and stays;
// `{{text}}` is `{text}`, literally.
import type { Json } from "@mlrb/kit/stage";

/** Looks up a dotted name. `undefined` is "no such name"; a lookup may throw a TemplateProblem that says more. */
export type Lookup = (name: string) => Json | undefined;

export class TemplateProblem extends Error {
  readonly placeholder: string;
  readonly help: string | undefined;
  constructor(placeholder: string, message: string, help?: string) {
    super(message);
    this.placeholder = placeholder;
    this.help = help;
  }
}

const innermost = /(?<![$\u0001])\{([a-zA-Z][\w-]*(?:\.[\w.-]+)?)\}/;

/** `value` with its placeholders filled in, at any depth. Throws TemplateProblem on an unknown name. */
export function fill(value: Json, lookup: Lookup): Json {
  if (typeof value === "string") return fillText(value, lookup);
  if (Array.isArray(value)) return value.map((item) => fill(item, lookup));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, lookup)]));
  }
  return value;
}

/** As `fill`, where a list stands for a text with each of its values. */
export function fillEach(text: string, lookup: Lookup): Json[] {
  const spread = (chosen: Map<string, Json>): Json[] => {
    let open: { name: string; values: Json[] } | undefined;
    const filled = fill(text, (name) => {
      const value = chosen.get(name) ?? lookup(name);
      if (!Array.isArray(value)) return value;
      open ??= { name, values: value };
      return null;
    });
    if (open === undefined) return [filled];
    const { name, values } = open;
    return values.flatMap((one) => spread(new Map(chosen).set(name, one)));
  };
  return spread(new Map());
}

function fillText(text: string, lookup: Lookup): Json {
  let rest = guard(text);
  for (let match = innermost.exec(rest); match; match = innermost.exec(rest)) {
    const value = lookup(match[1]!);
    if (value === undefined) throw new TemplateProblem(match[1]!, `no value named "${match[1]}"`);
    if (match[0] === rest) return typeof value === "string" ? value.replaceAll("\u0001", "") : value;
    if (value !== null && typeof value === "object") {
      throw new TemplateProblem(
        match[1]!,
        `"${match[1]}" is a ${Array.isArray(value) ? "list" : "table"} and cannot be part of a text`,
      );
    }
    if (value === null) return null; // a text about something that is not there is not there either
    rest = rest.slice(0, match.index) + shielded(value) + rest.slice(match.index + match[0].length);
  }
  return rest.replaceAll("\u0001", "");
}

/** A value that was put in is not read again: what an agent's command says in braces is the agent's. */
function shielded(value: string | number | boolean): string {
  return String(value).replace(/(?<!\u0001)\{/g, "\u0001{");
}

/** Marks `{{text}}` so that it is passed over, and takes one pair of braces off. */
function guard(text: string): string {
  return text.replace(/\{(\{[^{}]*\})\}/g, "\u0001$1");
}
