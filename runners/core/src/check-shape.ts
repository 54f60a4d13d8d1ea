// Checks a YAML file against a JSON Schema and says every problem where it stands, in our words
// instead of the schema's.
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { Diagnostic } from "./diagnostic.ts";
import { didYouMean } from "./suggest.ts";
import { parseDuration, parseSize } from "./units.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

const compiled = new WeakMap<object, ValidateFunction>();

/** All problems of shape; none means that `source.value` has the type that the schema describes. */
export function checkShape(source: YamlSource, schema: object): Diagnostic[] {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = compiler().compile(schema);
    compiled.set(schema, validate);
  }
  if (validate(source.value)) return [];
  const errors = (validate.errors ?? []).filter((error) => error.keyword !== "propertyNames");
  const seen = new Set<string>();
  return errors
    .map((error) => toDiagnostic(source, error))
    .filter(({ code, place }) => {
      const spot = `${code} ${place?.line}:${place?.column}`;
      return !seen.has(spot) && seen.add(spot);
    });
}

function compiler(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictSchema: false,
    verbose: true,
  });
  // a placeholder is checked once it is filled in
  ajv.addFormat("duration", (value) => value.includes("{") || parseDuration(value) !== undefined);
  ajv.addFormat("size", (value) => value.includes("{") || parseSize(value) !== undefined);
  return ajv;
}

function toDiagnostic(source: YamlSource, error: ErrorObject): Diagnostic {
  const path = pathOf(error.instancePath, source.value);
  const at = (more: Path = [], which: "key" | "value" = "value") => source.place([...path, ...more], which);
  const what = path.length > 0 ? `"${path.at(-1)}"` : "the file";
  const parent = error.parentSchema as { properties?: Record<string, unknown>; format?: string } | undefined;
  switch (error.keyword) {
    case "additionalProperties": {
      const key = String(error.params.additionalProperty);
      const help = didYouMean(key, Object.keys(parent?.properties ?? {}));
      return { code: "unknown-key", message: `${what} has no key "${key}"`, place: at([key], "key"), help };
    }
    case "required":
      return {
        code: "missing-key",
        message: `${what} lacks the key "${error.params.missingProperty}"`,
        place: at([], "key"),
      };
    case "type":
      if (parent?.format) return unitDiagnostic(parent.format, error.data, path, at());
      return {
        code: "wrong-type",
        message: `${what} must be ${typeWords(error.params.type)}, and is ${valueWords(error.data)}`,
        place: at(),
      };
    case "format":
      return unitDiagnostic(error.params.format, error.data, path, at());
    case "const":
      return path.at(-1) === "formatVersion"
        ? {
            code: "format-version",
            message: `formatVersion is ${valueWords(error.data)}; this program reads format ${error.params.allowedValue}`,
            place: at(),
            help: "a newer file needs a newer mlrb",
          }
        : {
            code: "wrong-value",
            message: `${what} must be ${JSON.stringify(error.params.allowedValue)}`,
            place: at(),
          };
    case "enum":
      return {
        code: "wrong-value",
        message: `${what} must be one of ${error.params.allowedValues.join(", ")}`,
        place: at(),
        help: didYouMean(String(error.data), error.params.allowedValues.map(String)),
      };
    case "pattern": {
      const isName = error.propertyName !== undefined;
      return {
        code: "bad-name",
        message: `"${error.propertyName ?? error.data}" is not a name`,
        place: isName ? at([error.propertyName!], "key") : at(),
        help: "names begin with a small letter, then letters, digits and dashes",
      };
    }
    case "uniqueItems":
      return {
        code: "duplicate",
        message: `${what} lists item ${error.params.i + 1} twice`,
        place: at([error.params.i]),
      };
    case "minItems":
    case "minLength":
    case "minProperties":
      return { code: "empty", message: `${what} must not be empty`, place: at() };
    default:
      return { code: "wrong-value", message: `${what} ${error.message ?? "is not allowed"}`, place: at() };
  }
}

function unitDiagnostic(
  format: string,
  data: unknown,
  path: Path,
  place: Diagnostic["place"] & object,
): Diagnostic {
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

/** The JSON pointer as steps; numbers where the parent is a list. */
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
