// Fills in the texts of one stage at one point of its axes, and says what is wrong with them in the place
// where they are written.

import { parseDuration } from "@mlrb/kit/parse-duration";
import type { Json } from "@mlrb/kit/stage";
import { parseSize } from "../text/units.ts";
import { fill, fillEach, type Lookup, TemplateProblem } from "../yaml/template.ts";
import type { Path } from "../yaml/yaml-source.ts";
import type { ResolveContext } from "./resolve-context.ts";

export type StageTexts = {
  /** `value` with its placeholders filled in; null where one means nothing. */
  filled(value: Json, path: Path, find?: Lookup): Json;
  /** The same where only text will do; undefined where there is none. */
  text(value: string | undefined, path: Path, find?: Lookup): string | undefined;
  /** The texts of a key: one for each value of a list that it names. */
  keys(value: string, path: Path): string[];
  duration(value: string | undefined, path: Path): { timeMs?: number };
  /** False where nothing is said, or where the field that it names is not there. */
  truth(value: boolean | string | undefined, path: Path): boolean;
  /** A list of names, or of those that a field lists; none where nothing is said. */
  names(value: string[] | string | undefined, path: Path): string[];
  /** `{ [name]: number }`; empty where nothing is said. */
  amount<Name extends string>(
    name: Name,
    value: number | string | undefined,
    path: Path,
  ): { [key in Name]?: number };
  /** In bytes; 0 where nothing is said. */
  size(value: string | undefined, path: Path): number;
};

export function stageTexts(lookup: Lookup, { source, problems }: ResolveContext): StageTexts {
  type At = { path: Path; at: "key" | "value"; find: Lookup };
  const sound = <Filled>(fill: () => Filled, { path, at }: Omit<At, "find">): Filled | null => {
    try {
      return fill();
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      problems.push({
        code: "unknown-placeholder",
        message: `{${error.placeholder}}: ${error.message}`,
        place: source.placeOf(path, `{${error.placeholder}}`, at),
        ...(error.help && { help: error.help }),
      });
      return null;
    }
  };
  const filledAt = (value: Json, where: At) => sound(() => fill(value, where.find), where);
  const plainText = (value: string, result: Json, where: Omit<At, "find">): string | undefined => {
    if (result !== null && typeof result === "object") {
      const message = `${value} is a ${Array.isArray(result) ? "list" : "table"}, where text is wanted`;
      problems.push({ code: "wrong-type", message, place: source.place(where.path, where.at) });
      return undefined;
    }
    return result === null ? undefined : String(result);
  };
  const text = (value: string | undefined, path: Path, find = lookup) => {
    const where = { path, at: "value", find } as const;
    return value === undefined ? undefined : plainText(value, filledAt(value, where), where);
  };
  return {
    filled: (value, path, find = lookup) => filledAt(value, { path, at: "value", find }),
    text,
    keys(value, path) {
      const where = { path, at: "key" } as const;
      const texts = (sound(() => fillEach(value, lookup), where) ?? []).map((one) =>
        plainText(value, one, where),
      );
      return [...new Set(texts.filter((one) => one !== undefined))];
    },
    duration(value, path) {
      const written = text(value, path);
      if (written === undefined) return {};
      const timeMs = parseDuration(written);
      if (timeMs !== undefined) return { timeMs };
      problems.push({
        code: "bad-duration",
        message: `"${written}" is not a duration`,
        place: source.place(path),
        help: "write a duration with its unit, e.g. 90s, 30m or 24h",
      });
      return {};
    },
    truth(value, path) {
      const found = filledAt(value ?? false, { path, at: "value", find: lookup });
      if (found === null || typeof found === "boolean") return found ?? false;
      problems.push({
        code: "wrong-type",
        message: `${JSON.stringify(found)} is neither true nor false`,
        place: source.place(path),
        help: "write true, false, or a field that is one of them",
      });
      return false;
    },
    names(value, path) {
      const found = filledAt(value ?? [], { path, at: "value", find: lookup });
      const isVariable = (one: Json) => typeof one === "string" && /^[A-Za-z_]\w*$/.test(one);
      if (found === null) return [];
      if (Array.isArray(found) && found.every(isVariable)) return found as string[];
      problems.push({
        code: "wrong-type",
        message: `${JSON.stringify(found)} is no list of environment variables`,
        place: source.place(path),
        help: "write [NAME, …], or a field that lists them",
      });
      return [];
    },
    amount(name, value, path) {
      const found = filledAt(value ?? null, { path, at: "value", find: lookup });
      if (found === null) return {};
      if (typeof found === "number" && Number.isFinite(found) && found > 0)
        return { [name]: found } as { [key in typeof name]?: number };
      problems.push({
        code: "wrong-type",
        message: `${JSON.stringify(found)} is no number above 0`,
        place: source.place(path),
        help: `write how many ${name}, or a field that says so`,
      });
      return {};
    },
    size(value, path) {
      const written = text(value, path);
      if (written === undefined) return 0;
      const bytes = parseSize(written);
      if (bytes !== undefined) return bytes;
      problems.push({
        code: "bad-size",
        message: `"${written}" is not a size`,
        place: source.place(path),
        help: "write a size with its unit, e.g. 64GiB or 12GB",
      });
      return 0;
    },
  };
}
