// Checks a YAML file against a JSON Schema and reports every problem with its place and a way out.
import { causeOf, outsideUnions, valueWords } from "@mlrb/formats/problem-words";
import { storedValidator } from "@mlrb/formats/stored-validator";
import { parseDuration } from "@mlrb/kit/parse-duration";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { parseSize } from "../text/units.ts";
import type { Diagnostic, Place } from "./diagnostic.ts";
import { didYouMean, suggest } from "./suggest.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

const compiled = new WeakMap<object, ValidateFunction>();

/** A problem of shape and the path of the wrong value. `key` is an unknown key, `missing` a missing one. */
export type ShapeProblem = { problem: Diagnostic; path: Path; key?: string; missing?: string };

export function shapeProblems(source: YamlSource, schema: object): ShapeProblem[] {
  const validate = compiled.getOrInsertComputed(schema, () => storedValidator(schema, { options, formats }));
  if (validate(source.value)) return [];
  const all = (validate.errors ?? []).filter((error) => error.keyword !== "propertyNames");
  const errors = outsideUnions(all);
  const seen = new Set<string>();
  const problems = errors
    .map((error): ShapeProblem => {
      const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>;
      return {
        problem: toDiagnostic(source, error, causeOf([...all, error])),
        path: pathOf(error.instancePath, source.value),
        ...(additionalProperty !== undefined && { key: additionalProperty }),
        ...(missingProperty !== undefined && { missing: missingProperty }),
      };
    })
    .filter(({ path, problem: { code, message, place } }) => {
      // a value that several stages inherit has one place and several paths
      const spot = `${code === "missing-key" ? message : code} ${place?.line}:${place?.column} ${path.join("/")}`;
      return !seen.has(spot) && seen.add(spot);
    });
  // a key that is missing because it was misspelt is reported as misspelt
  const misspelt = (one: ShapeProblem) =>
    one.missing !== undefined &&
    problems.some(
      ({ key, path }) =>
        key !== undefined &&
        path.join("/") === one.path.join("/") &&
        suggest(key, [one.missing!]) !== undefined,
    );
  // the keys of another format version have unknown meanings
  const format = problems.find(({ problem }) => problem.code === "format-version");
  return format ? [format] : problems.filter((one) => !misspelt(one));
}

// a placeholder is checked after it is filled in
const formats = {
  duration: (value: string) => value.includes("{") || parseDuration(value) !== undefined,
  size: (value: string) => value.includes("{") || parseSize(value) !== undefined,
};

const options: Options = {
  allErrors: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictSchema: false,
  verbose: true,
  // the schemas are ours, and published-schemas.test checks them
  meta: false,
  validateSchema: false,
};

type ShapeError = {
  message: string;
  path: Path;
  error: ErrorObject;
  parent: ParentSchema;
  at(more?: Path, which?: "key" | "value"): Place;
};

type ParentSchema = {
  properties?: Record<string, unknown>;
  format?: string;
  description?: string;
  patternErrorMessage?: string;
};

function toDiagnostic(source: YamlSource, error: ErrorObject, message: string): Diagnostic {
  const path = pathOf(error.instancePath, source.value);
  const toWords = byKeyword[error.keyword] ?? wrongValue;
  return toWords({
    message,
    path,
    error,
    parent: (error.parentSchema ?? {}) as ParentSchema,
    at: (more = [], which = "value") => source.place([...path, ...more], which),
  });
}

const byKeyword: Record<string, (problem: ShapeError) => Diagnostic> = {
  additionalProperties({ message, error, parent, at }) {
    const key = String(error.params.additionalProperty);
    const help = didYouMean(key, Object.keys(parent.properties ?? {}));
    return { code: "unknown-key", message, place: at([key], "key"), help };
  },
  required({ message, path, error, at }) {
    const place = path.length > 0 ? at([], "key") : firstWord(at());
    const isVersion = error.params.missingProperty === "formatVersion";
    return { code: "missing-key", message, place, ...(isVersion && { help: "write formatVersion: 1" }) };
  },
  type({ message, path, error, parent, at }) {
    if (parent.format) return unitDiagnostic(parent.format, error.data, path, at());
    const help = { ...listHelp(error, path), ...tableHelp(error, parent.description) };
    return { code: "wrong-type", message, place: at(), ...help };
  },
  format: ({ path, error, at }) => unitDiagnostic(error.params.format, error.data, path, at()),
  const: (problem) =>
    problem.path.at(-1) === "formatVersion" ? formatVersion(problem) : wrongValue(problem),
  enum(problem) {
    const { data, params } = problem.error;
    const allowed: string[] = params.allowedValues.map(String);
    const isMeant = suggest(String(data), allowed) !== undefined;
    return { ...wrongValue(problem), ...(isMeant && { help: didYouMean(String(data), allowed) }) };
  },
  pattern({ error, parent, at }) {
    const name = error.propertyName;
    const [whose] = /^an? [^;,.:]+/.exec(parent.description ?? "") ?? [];
    const whatFor = whose ? ` for ${whose}` : "";
    return {
      code: "bad-name",
      message: `"${name ?? error.data}" is not a name${whatFor}`,
      place: name === undefined ? at() : at([name], "key"),
      help: parent.patternErrorMessage ?? "names begin with a small letter, then letters, digits and dashes",
    };
  },
  uniqueItems({ message, error, at }) {
    const { i, j } = error.params;
    return { code: "duplicate", message, place: at([Math.max(i, j)]) };
  },
  minItems: fewer,
  minLength: fewer,
  minProperties: fewer,
};

function wrongValue({ message, at }: ShapeError): Diagnostic {
  return { code: "wrong-value", message, place: at() };
}

function fewer(problem: ShapeError): Diagnostic {
  const code = problem.error.params.limit > 1 ? "wrong-value" : "empty";
  return { ...wrongValue(problem), code };
}

/** For a single value in place of a list. */
function listHelp({ data, params }: ErrorObject, path: Path): { help?: string } {
  const wantsList = [params.type].flat().includes("array");
  if (!wantsList || typeof data !== "string" || !/^[\w./-]+$/.test(data) || path.length === 0) return {};
  return { help: `write ${path.at(-1)}: [${data}]` };
}

/** For another value in place of a table: the description of the table. */
function tableHelp({ params }: ErrorObject, description: string | undefined): { help?: string } {
  return params.type === "object" && description !== undefined ? { help: description } : {};
}

function firstWord(place: Place): Place {
  const length = /^[^\s:]*/.exec(place.excerpt.slice(place.column - 1))![0].length;
  return { ...place, length: Math.max(1, length) };
}

function formatVersion({ message, error, at }: ShapeError): Diagnostic {
  const { allowedValue } = error.params as { allowedValue: number };
  const newer = typeof error.data === "number" && error.data > allowedValue;
  const help = newer ? "a newer file needs a newer mlrb" : `write formatVersion: ${allowedValue}`;
  return { code: "format-version", message, place: at(), help };
}

function unitDiagnostic(format: string, data: unknown, path: Path, place: Place): Diagnostic {
  const kind = format === "size" ? "size" : "duration";
  const example = kind === "size" ? "64GiB or 12GB" : "90s, 30m or 24h";
  const bare = typeof data === "number" || /^[\d.]+$/.test(String(data));
  return {
    code: bare ? "missing-unit" : `bad-${kind}`,
    message: bare
      ? `"${path.at(-1)}" is ${String(data)} without a unit`
      : `${valueWords(data)} is not a ${kind}`,
    place,
    help: `write a ${kind} with its unit, e.g. ${example}`,
  };
}

/** The steps of a JSON pointer; numbers if the parent is a list. */
function pathOf(pointer: string, root: unknown): (string | number)[] {
  let value = root as Record<string, unknown> | undefined;
  return pointer
    .split("/")
    .slice(1)
    .map((step) => {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      const typed = Array.isArray(value) ? Number(key) : key;
      value = value?.[key] as typeof value;
      return typed;
    });
}
