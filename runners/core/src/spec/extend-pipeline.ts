// Fills in what pipelines and stages take over from others, before anything is checked. `extends` names a pipeline
// whose entries this one overrides, `like` a stage whose settings this one overrides. Inherited values keep their
// place, so that a problem is shown where it is written.

import { dirname, join } from "node:path/posix";
import { isTable } from "@mlrb/formats/is-table";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { type Path, parseYaml, type YamlSource } from "../yaml/yaml-source.ts";
import type { Sources } from "./manifest.ts";

type Table = Record<string, unknown>;

/** The tables of a pipeline whose entries are inherited by name. */
const tables = ["axes", "allowances", "params", "pools", "defaults", "profiles", "stages"];

/** Keys of a stage that `like` does not inherit. */
const own = ["title", "role", "like"];

/** `source` with everything that it inherits, or the problems of `extends` and `like`. */
export function extendPipeline(source: YamlSource, sources: Sources): YamlSource | Diagnostic[] {
  const whole = withParent(source, sources, [source.file]);
  return Array.isArray(whole) ? whole : withLikes(whole);
}

function withParent(child: YamlSource, sources: Sources, seen: string[]): YamlSource | Diagnostic[] {
  const value = child.value;
  if (!isTable(value) || typeof value.extends !== "string") return child;
  const file = join(dirname(child.file), `${value.extends}.yaml`);
  const problem = (code: string, message: string, help: string) => [
    { code, message, place: child.place(["extends"]), help },
  ];
  if (seen.includes(file))
    return problem(
      "pipeline-cycle",
      `pipelines extend each other in a cycle: ${[...seen, file].join(" → ")}`,
      "remove one `extends`",
    );
  const text = /^[A-Za-z0-9][\w-]*$/.test(value.extends) ? sources.read(file) : undefined;
  if (text === undefined) {
    const names = sources.list(dirname(child.file)).flatMap((name) => /^(.+)\.yaml$/.exec(name)?.[1] ?? []);
    return problem(
      "unknown-pipeline",
      `there is no ${file} to extend; a program (NAME.ts) cannot be extended`,
      didYouMean(value.extends, names),
    );
  }
  const parsed = parseYaml(file, text);
  if (Array.isArray(parsed)) return parsed;
  const parent = withParent(parsed, sources, [...seen, file]);
  if (Array.isArray(parent)) return parent;
  if (!isTable(parent.value)) return child;
  const { value: base } = parent;
  const merged: Table = { ...base, ...value };
  // a name and a title are not inherited
  for (const key of ["name", "title"]) if (!Object.hasOwn(value, key)) delete merged[key];
  for (const table of tables)
    if (isTable(base[table]) && isTable(value[table]))
      merged[table] = { ...(base[table] as Table), ...(value[table] as Table) };
  const writer = ([first, second]: Path) => {
    if (first === undefined || !Object.hasOwn(value, first)) return first === undefined ? child : parent;
    const entries = value[first];
    if (second === undefined || !tables.includes(String(first)) || !isTable(entries)) return child;
    return Object.hasOwn(entries, second) || !Object.hasOwn(base, first) ? child : parent;
  };
  return {
    file: child.file,
    value: merged,
    problems: [...parent.problems, ...child.problems],
    place: (path, at) => writer(path).place(path, at),
    placeOf: (path, word, at) => writer(path).placeOf(path, word, at),
  };
}

function withLikes(source: YamlSource): YamlSource | Diagnostic[] {
  const { value } = source;
  if (!isTable(value) || !isTable(value.stages)) return source;
  const stages = value.stages;
  const likeOf = (name: string) => {
    const stage = Object.hasOwn(stages, name) ? stages[name] : undefined;
    return isTable(stage) && typeof stage.like === "string" ? stage.like : undefined;
  };
  const names = Object.keys(stages).filter((name) => likeOf(name) !== undefined);
  if (names.length === 0) return source;
  /** By stage: itself, then the stages whose settings it inherits. */
  const chains = new Map<string, string[]>();
  const problems: Diagnostic[] = [];
  for (const name of names) {
    const chain = [name];
    for (let next = likeOf(name); next !== undefined && !chain.includes(next); next = likeOf(next))
      chain.push(next);
    const last = chain.at(-1)!;
    const place = source.place(["stages", name, "like"]);
    if (likeOf(last) !== undefined) {
      const message = `stages are like each other in a cycle: ${[...chain, likeOf(last)].join(" → ")}`;
      problems.push({ code: "like-cycle", message, place, help: "write the settings out at one of them" });
    } else if (!isTable(Object.hasOwn(stages, last) ? stages[last] : undefined)) {
      const others = Object.keys(stages).filter((other) => !chain.includes(other));
      const message = `no stage named "${last}"`;
      if (chain.length === 2)
        problems.push({ code: "unknown-stage", message, place, help: didYouMean(last, others) });
    } else chains.set(name, chain);
  }
  if (problems.length > 0) return problems;
  const filled = Object.fromEntries(
    Object.entries(stages).map(([name, stage]) => {
      const taken = (chains.get(name) ?? []).slice(1).reverse();
      const settings = taken.map((other) => without(stages[other] as Table, own));
      return [name, taken.length === 0 ? stage : Object.assign({}, ...settings, stage)];
    }),
  );
  const written = (path: Path): Path => {
    const [first, name, setting, ...rest] = path;
    const chain = first === "stages" ? chains.get(String(name)) : undefined;
    if (!chain || setting === undefined) return path;
    const holder = chain.find((other) => Object.hasOwn(stages[other] as Table, setting));
    return holder === undefined ? path : ["stages", holder, setting, ...rest];
  };
  return {
    ...source,
    value: { ...value, stages: filled },
    place: (path, at) => source.place(written(path), at),
    placeOf: (path, word, at) => source.placeOf(written(path), word, at),
  };
}

function without(table: Table, keys: string[]): Table {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !keys.includes(key)));
}
