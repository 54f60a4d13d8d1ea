// Fills in the texts of one stage at one point of its axes, and reports problems where the texts are written.

import { parseDuration } from "@mlrb/kit/parse-duration";
import type { Json } from "@mlrb/kit/stage";
import { parseSize } from "../text/units.ts";
import { fill, fillEach, type Lookup, placeholderProblem, TemplateProblem } from "../yaml/template.ts";
import type { Path } from "../yaml/yaml-source.ts";
import type { ResolveContext } from "./resolve-context.ts";

type At = { path: Path; at?: "key" | "value" };

export class StageTexts {
  readonly #lookup: Lookup;
  readonly #context: ResolveContext;

  constructor(lookup: Lookup, context: ResolveContext) {
    this.#lookup = lookup;
    this.#context = context;
  }

  /** `value` with its placeholders filled in; null where a placeholder has no value. */
  filled(value: Json, path: Path, lookup = this.#lookup): Json {
    return this.#orNull(() => fill(value, lookup), { path });
  }

  /** The same for text; undefined where there is none. */
  text(value: string | undefined, path: Path, lookup = this.#lookup): string | undefined {
    return value === undefined ? undefined : this.#asText(value, this.filled(value, path, lookup), { path });
  }

  /** The texts of a key: one for each value of a list that the key names. */
  keys(value: string, path: Path): string[] {
    const where = { path, at: "key" } as const;
    const filled = this.#orNull(() => fillEach(value, this.#lookup), where) ?? [];
    const texts = filled.flatMap((one) => this.#asText(value, one, where) ?? []);
    return [...new Set(texts)];
  }

  duration(value: string | undefined, path: Path): { timeMs?: number } {
    const written = this.text(value, path);
    if (written === undefined) return {};
    const timeMs = parseDuration(written);
    if (timeMs !== undefined) return { timeMs };
    const help = "write a duration with its unit, e.g. 90s, 30m or 24h";
    this.#report(path, { code: "bad-duration", message: `"${written}" is not a duration`, help });
    return {};
  }

  /** In bytes; 0 where no size is given. */
  size(value: string | undefined, path: Path): number {
    const written = this.text(value, path);
    if (written === undefined) return 0;
    const bytes = parseSize(written);
    if (bytes !== undefined) return bytes;
    const help = "write a size with its unit, e.g. 64GiB or 12GB";
    this.#report(path, { code: "bad-size", message: `"${written}" is not a size`, help });
    return 0;
  }

  /** False where no value is given, or where the named field is missing. */
  truth(value: boolean | string | undefined, path: Path): boolean {
    const found = this.filled(value ?? false, path) ?? false;
    if (typeof found === "boolean") return found;
    const message = `${JSON.stringify(found)} is neither true nor false`;
    this.#report(path, {
      code: "wrong-type",
      message,
      help: "write true, false, or a field that is one of them",
    });
    return false;
  }

  /** A list of names, or the names that a field lists. */
  names(value: string[] | string | undefined, path: Path): string[] {
    const found = this.filled(value ?? [], path) ?? [];
    const isVariable = (one: Json): one is string => typeof one === "string" && /^[A-Za-z_]\w*$/.test(one);
    if (Array.isArray(found) && found.every(isVariable)) return found;
    const message = `${JSON.stringify(found)} is not a list of environment variables`;
    this.#report(path, { code: "wrong-type", message, help: "write [NAME, …], or a field that lists them" });
    return [];
  }

  /** `{ [name]: number }`; empty where no amount is given. */
  amount<Name extends string>(
    name: Name,
    value: number | string | undefined,
    path: Path,
  ): { [key in Name]?: number } {
    const found = this.filled(value ?? null, path);
    if (found === null) return {};
    if (typeof found === "number" && Number.isFinite(found) && found > 0)
      return { [name]: found } as { [key in Name]?: number };
    const message = `${JSON.stringify(found)} is not a number above 0`;
    this.#report(path, {
      code: "wrong-type",
      message,
      help: `write how many ${name}, or a field that says so`,
    });
    return {};
  }

  #orNull<Filled>(filled: () => Filled, where: At): Filled | null {
    try {
      return filled();
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      const { source, problems } = this.#context;
      problems.push(placeholderProblem(error, source, where));
      return null;
    }
  }

  #asText(written: string, result: Json, { path, at }: At): string | undefined {
    if (result === null) return undefined;
    if (typeof result !== "object") return String(result);
    const { source, problems } = this.#context;
    const message = `${written} is a ${Array.isArray(result) ? "list" : "table"}, but must be text`;
    problems.push({ code: "wrong-type", message, place: source.place(path, at) });
    return undefined;
  }

  #report(path: Path, problem: { code: string; message: string; help: string }): void {
    const { source, problems } = this.#context;
    problems.push({ ...problem, place: source.place(path) });
  }
}
