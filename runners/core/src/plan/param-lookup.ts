// Looks up `{params.NAME}`. The value of a parameter may contain placeholders itself, which the caller's lookup fills.
import type { Json } from "@mlrb/kit/stage";
import { didYouMean } from "../yaml/suggest.ts";
import { fill, type Lookup, TemplateProblem } from "../yaml/template.ts";

/** Looks up `name` (`params.NAME`) and fills the placeholders of its value by `lookup`. Throws TemplateProblem. */
export type ParamLookup = (name: string, lookup: Lookup) => Json;

export function paramLookup(params: Record<string, Json>): ParamLookup {
  const open = new Set<string>();
  return (name, lookup) => {
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
