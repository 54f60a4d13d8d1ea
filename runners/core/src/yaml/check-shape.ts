// Checks a YAML file against a JSON Schema and reports every problem with its place, in our words instead of the
// schema's.
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
  const errors = (validate.errors ?? []).filter((error) => error.keyword !== "propertyNames");
  const seen = new Set<string>();
  const problems = errors
    .map((error): ShapeProblem => {
      const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>;
      return {
        problem: toDiagnostic(source, error),
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
  /** The name of the value in a message. */
  what: string;
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

function toDiagnostic(source: YamlSource, error: ErrorObject): Diagnostic {
  const path = pathOf(error.instancePath, source.value);
  const toWords = byKeyword[error.keyword] ?? otherProblem;
  return toWords({
    what: nameOf(path),
    path,
    error,
    parent: (error.parentSchema ?? {}) as ParentSchema,
    at: (more = [], which = "value") => source.place([...path, ...more], which),
  });
}

const byKeyword: Record<string, (problem: ShapeError) => Diagnostic> = {
  additionalProperties({ what, error, parent, at }) {
    const key = String(error.params.additionalProperty);
    const help = didYouMean(key, Object.keys(parent.properties ?? {}));
    return { code: "unknown-key", message: `${what} has no key "${key}"`, place: at([key], "key"), help };
  },
  required({ what, path, error, at }) {
    const place = path.length > 0 ? at([], "key") : firstWord(at());
    return missingKey(what, String(error.params.missingProperty), place);
  },
  type({ what, path, error, parent, at }) {
    if (parent.format) return unitDiagnostic(parent.format, error.data, path, at());
    const message = `${what} must be ${typeWords(error.params.type)}, and is ${valueWords(error.data)}`;
    const help = { ...listHelp(error, path), ...tableHelp(error, parent.description) };
    return { code: "wrong-type", message, place: at(), ...help };
  },
  format: ({ path, error, at }) => unitDiagnostic(error.params.format, error.data, path, at()),
  const({ what, path, error, at }) {
    if (path.at(-1) === "formatVersion") return formatVersion(error, at());
    return wrongValue(`${what} must be ${JSON.stringify(error.params.allowedValue)}`, at());
  },
  enum({ what, error, at }) {
    const allowed: unknown[] = error.params.allowedValues;
    const help = meant(String(error.data), allowed.map(String));
    return { ...wrongValue(`${what} must be one of ${allowed.join(", ")}`, at()), ...help };
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
  uniqueItems({ what, error, at }) {
    const { i, j } = error.params;
    const message = `${what} lists ${valueWords((error.data as unknown[])[i])} twice`;
    return { code: "duplicate", message, place: at([Math.max(i, j)]) };
  },
  maxItems: ({ what, error, at }) =>
    wrongValue(`${what} must have at most ${error.params.limit} items`, at()),
  minItems: (problem) =>
    problem.error.params.limit > 1
      ? wrongValue(`${problem.what} must have ${problem.error.params.limit} items`, problem.at())
      : emptyProblem(problem),
  minLength: emptyProblem,
  minProperties: emptyProblem,
  minimum: ({ what, error, at }) => wrongValue(`${what} must be at least ${error.params.limit}`, at()),
  exclusiveMinimum: ({ what, error, at }) =>
    wrongValue(`${what} must be more than ${error.params.limit}`, at()),
  maximum: ({ what, error, at }) => wrongValue(`${what} must be at most ${error.params.limit}`, at()),
};

function otherProblem({ what, error, at }: ShapeError): Diagnostic {
  return wrongValue(`${what} ${error.message ?? "is not allowed"}`, at());
}

function emptyProblem({ what, at }: ShapeError): Diagnostic {
  return { code: "empty", message: `${what} must not be empty`, place: at() };
}

function wrongValue(message: string, place: Place): Diagnostic {
  return { code: "wrong-value", message, place };
}

/** The name of a value in a message: its key, or its place in a list. */
function nameOf(path: Path): string {
  if (path.length === 0) return "the file";
  const last = path.at(-1)!;
  return typeof last === "number" ? `item ${last + 1} of ${nameOf(path.slice(0, -1))}` : `"${last}"`;
}

function missingKey(what: string, key: string, place: Place): Diagnostic {
  const help = key === "formatVersion" ? { help: "write formatVersion: 1" } : {};
  return { code: "missing-key", message: `${what} lacks the key "${key}"`, place, ...help };
}

function meant(text: string, candidates: string[]): { help?: string } {
  return suggest(text, candidates) === undefined ? {} : { help: didYouMean(text, candidates) };
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

function formatVersion(error: ErrorObject, place: Place): Diagnostic {
  const { allowedValue } = error.params as { allowedValue: number };
  const message = `formatVersion is ${valueWords(error.data)}; this program reads format ${allowedValue}`;
  const newer = typeof error.data === "number" && error.data > allowedValue;
  const help = newer ? "a newer file needs a newer mlrb" : `write formatVersion: ${allowedValue}`;
  return { code: "format-version", message, place, help };
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

function typeWords(type: string | string[]): string {
  const words: Record<string, string> = {
    array: "a list",
    object: "a table",
    string: "text",
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
  };
  return [type]
    .flat()
    .map((one) => words[one] ?? one)
    .join(" or ");
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a table";
  const shown = JSON.stringify(value);
  return `${typeof value === "string" ? "the text " : ""}${shown.length > 60 ? `${shown.slice(0, 57)}…` : shown}`;
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
