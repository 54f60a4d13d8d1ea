// Checks data from outside this process against its format: files, lines of logs, answers of programs. Data that does not
// follow the format becomes a value with its cause, so a bad file costs one entry and not the run.
import { createRequire } from "node:module";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { isTable } from "./is-table.ts";
import type { TypeOf } from "./schema.ts";
import { storedValidator } from "./stored-validator.ts";

/** `help`: the way out where the cause is another version of the format. */
export type Reading<T> = { kind: "ok"; value: T } | { kind: "unreadable"; cause: string; help?: string };

// Most starts of the program check nothing, and importing ajv would take longer than the rest of their work.
const require = createRequire(import.meta.url);

// Most data follows its format, and its validator has no messages. It is compiled once for each installation: compiling
// takes 30 to 60 ms, which each script of a stage would pay. Validators with messages are compiled when they are needed.
const quick = new WeakMap<object, ValidateFunction>();
const wordy = new WeakMap<object, ValidateFunction>();

// published-schemas.test.ts checks the schemas themselves, so that no start has to
const options = {
  discriminator: true,
  messages: false,
  strict: false,
  strictNumbers: true,
  // durations and sizes are parsed where they are used
  validateFormats: false,
  meta: false,
  validateSchema: false,
} satisfies Options;

/** `text` as JSON that follows `schema`. */
export function readFormat<const Schema extends object>(
  schema: Schema,
  text: string,
): Reading<TypeOf<Schema>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "unreadable", cause: `not JSON: ${(error as Error).message}` };
  }
  return checkFormat(schema, value);
}

/** `value` itself if it follows `schema`; the cause names the first field that does not. */
export function checkFormat<const Schema extends object>(
  schema: Schema,
  value: unknown,
): Reading<TypeOf<Schema>> {
  if (quickValidator(schema)(value)) return { kind: "ok", value: value as TypeOf<Schema> };
  const validate = wordyValidator(schema);
  validate(value);
  return { kind: "unreadable", ...(versionCause(schema, value) ?? { cause: causeOf(validate.errors!) }) };
}

/** A check without a cause, fast enough for millions of lines. */
export function followsFormat<const Schema extends object>(
  schema: Schema,
): (value: unknown) => value is TypeOf<Schema> {
  return quickValidator(schema) as unknown as (value: unknown) => value is TypeOf<Schema>;
}

/** For data that this program wrote itself. Throws with `what` and the cause if `value` does not follow `schema`. */
export function mustFollow<const Schema extends object>(
  schema: Schema,
  value: unknown,
  what: string,
): TypeOf<Schema> {
  const reading = checkFormat(schema, value);
  if (reading.kind === "unreadable") throw new Error(`${what}: ${reading.cause}`);
  return reading.value;
}

function quickValidator(schema: object): ValidateFunction {
  return quick.getOrInsertComputed(schema, () => storedValidator(schema, { options, formats: {} }));
}

function wordyValidator(schema: object): ValidateFunction {
  return wordy.getOrInsertComputed(schema, () => {
    const { Ajv } = require("ajv") as typeof import("ajv");
    return new Ajv({ ...options, verbose: true, messages: true, code: { optimize: false } }).compile(schema);
  });
}

/** For a file of another version the version is the cause, whatever else differs. */
function versionCause(schema: object, value: unknown): { cause: string; help?: string } | undefined {
  const { properties } = schema as { properties?: { formatVersion?: { const?: number } } };
  const known = properties?.formatVersion?.const;
  if (known === undefined || !isTable(value)) return undefined;
  const { formatVersion } = value;
  if (formatVersion === known) return undefined;
  if (formatVersion === undefined) return { cause: "formatVersion is missing" };
  const cause = `formatVersion is ${valueWords(formatVersion)}, not ${known}`;
  return { cause, help: "use the mlrb that wrote it" };
}

export function unreadableWords({ cause, help }: { cause: string; help?: string }): string {
  return help === undefined ? cause : `${cause}; ${help}`;
}

/** The last error is that of the whole value. The errors of a union's variants come before it. */
function causeOf(errors: ErrorObject[]): string {
  const { keyword, instancePath, params, data, message, parentSchema } = errors.at(-1)!;
  const path = instancePath.split("/").slice(1).map(unescaped);
  const field = path.length === 0 ? "the file" : path.join(".");
  switch (keyword) {
    case "type":
      return `${field} is ${valueWords(data)}, not ${[params.type].flat().map(typeWords).join(" or ")}`;
    case "required":
      return `${[...path, params.missingProperty].join(".")} is missing`;
    case "const":
      return `${field} is ${valueWords(data)}, not ${JSON.stringify(params.allowedValue)}`;
    case "enum":
      return `${field} is ${valueWords(data)}, not one of ${params.allowedValues.join(", ")}`;
    case "discriminator": {
      const tags = parentSchema!.oneOf.flatMap(({ properties }: Tagged) => {
        const { const: tag, enum: tags = [tag] } = properties[params.tag]!;
        return tags;
      });
      return `${[...path, params.tag].join(".")} is ${valueWords(params.tagValue)}, not one of ${tags.join(", ")}`;
    }
    case "oneOf":
    case "anyOf": {
      if (params.passingSchemas) {
        const both = params.passingSchemas.flatMap((at: number) => parentSchema!.oneOf[at].required ?? []);
        return `${field} has ${both.join(" and ")}, and may have one of them`;
      }
      return causeOfVariants(errors);
    }
    case "additionalProperties":
      return `${[...path, params.additionalProperty].join(".")} is not known`;
    default:
      return `${field} is ${valueWords(data)}: it ${message}`;
  }
}

type Tagged = { properties: Record<string, { const?: unknown; enum?: unknown[] }> };

/** `errors` end with that of a union, after those of its variants. The variant that fits best gives the cause. */
function causeOfVariants(errors: ErrorObject[]): string {
  const { instancePath: place, schemaPath } = errors.at(-1)!;
  const variants = errors.filter((error) => error.schemaPath.startsWith(`${schemaPath}/`));
  const isOfType = ({ keyword, instancePath }: ErrorObject) =>
    (keyword === "type" || isUnion(keyword)) && instancePath === place;
  const near = variants.filter((error) => !isOfType(error));
  const within = near.filter(({ instancePath }) => instancePath.length > place.length);
  const telling = within.length > 0 ? within : near;
  if (telling.length > 0) return causeOf(isUnion(telling.at(-1)!.keyword) ? telling : [telling[0]!]);
  const types = variants.flatMap(({ keyword, params }) => (keyword === "type" ? params.type : []));
  return causeOf([{ ...errors.at(-1)!, keyword: "type", params: { type: types } }]);
}

function isUnion(keyword: string): boolean {
  return keyword === "anyOf" || keyword === "oneOf";
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, 80); // names may be as long as the file
}

const typeNames: Record<string, string> = {
  array: "a list",
  object: "an object",
  string: "a text",
  integer: "a whole number",
  number: "a finite number",
  boolean: "true or false",
  null: "null",
};

function typeWords(type: string): string {
  return typeNames[type] ?? type;
}

function valueWords(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (value !== null && typeof value === "object") return "an object";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
}
