// Placeholders in a pipeline's text: `{task}`, `{task.budget.time}`, `{params.data}`, `{inputs.public}`. Inner
// ones are filled first, so `{task.budget.{params.data}.time}` selects by a parameter. A text that is only a
// placeholder keeps the value's type. Values are not searched for placeholders. `${NAME}` belongs to the shell and
// stays; `{{text}}` is a literal `{text}`.
import type { Json } from "@mlrb/kit/stage";
import type { Diagnostic } from "./diagnostic.ts";
import { didYouMean } from "./suggest.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

/** Looks up a dotted name. `undefined` is "no such name"; a lookup may throw a TemplateProblem with details. */
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

/** As `fill`, but a list gives one text for each of its values. */
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
    if (value === null) return null; // a text about a missing value is missing too
    rest = rest.slice(0, match.index) + shielded(value) + rest.slice(match.index + match[0].length);
  }
  const open = unclosedPlaceholder(rest, (name) => {
    try {
      return lookup(name) !== undefined;
    } catch (problem) {
      if (!(problem instanceof TemplateProblem)) throw problem;
      return /^(?:inputs|outputs|params|pipeline|services)\./.test(name);
    }
  });
  if (open !== undefined) throw new TemplateProblem(open, unclosedMessage);
  return rest.replaceAll("\u0001", "");
}

export const unclosedMessage = "its closing brace is missing";

/**
 * The first placeholder of a known name after which no brace closes. Other open braces belong to a shell or to
 * awk, as does one that is closed later: `{task,agent}`.
 */
export function unclosedPlaceholder(text: string, isKnown: (name: string) => boolean): string | undefined {
  const open = /(?<![$\u0001])\{([a-zA-Z][\w-]*(?:\.[\w.-]+)?)(?=[^{}]*(?:\{|$))/g;
  return [...text.matchAll(open)].map(([, name]) => name!).find(isKnown);
}

/** Protects an inserted value from being filled again: braces in an agent's command belong to the agent. */
function shielded(value: string | number | boolean): string {
  return String(value).replace(/(?<!\u0001)\{/g, "\u0001{");
}

/** Marks `{{text}}` as literal and removes one pair of braces. */
function guard(text: string): string {
  return text.replace(/\{(\{[^{}]*\})\}/g, "\u0001$1");
}

/** The diagnostic for a placeholder that cannot be filled in. `path` is where the text with the placeholder is written. */
export function placeholderProblem(
  { placeholder, message, help }: TemplateProblem,
  source: YamlSource,
  { path, at = "value" }: { path: Path; at?: "key" | "value" },
): Diagnostic {
  return {
    code: "unknown-placeholder",
    message: `{${placeholder}}: ${message}`,
    place: source.placeOf(path, `{${placeholder}}`, at),
    ...(help && { help }),
  };
}

/**
 * Looks up a name (`params.NAME`) and fills the placeholders of its value by a lookup of other names. Throws
 * TemplateProblem.
 */
export function paramLookup(params: Record<string, Json>) {
  const open = new Set<string>();
  return (name: string, lookup: Lookup): Json => {
    if (open.has(name)) throw new TemplateProblem(name, "its value refers to itself");
    const key = name.slice(name.indexOf(".") + 1);
    if (!Object.hasOwn(params, key))
      throw new TemplateProblem(name, `no parameter "${key}"`, didYouMean(key, Object.keys(params)));
    open.add(name);
    try {
      return fill(params[key]!, lookup);
    } finally {
      open.delete(name);
    }
  };
}
