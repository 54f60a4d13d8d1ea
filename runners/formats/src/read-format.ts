// Checks data from outside this process against its format: files, lines of logs, answers of programs. Data that
// does not follow the format is a value with its cause, so one bad file costs one entry and not the run.
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TypeOf } from "./schema.ts";

export type Reading<T> = { kind: "ok"; value: T } | { kind: "unreadable"; cause: string };

const validators = new WeakMap<object, ValidateFunction>();
let compiler: Ajv | undefined;

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
  const validate = validatorOf(schema);
  if (validate(value)) return { kind: "ok", value: value as TypeOf<Schema> };
  return { kind: "unreadable", cause: causeOf(validate.errors!.at(-1)!) };
}

/** For what this program wrote itself: a value that does not follow `schema` throws, with `what` before the cause. */
export function mustFollow<const Schema extends object>(
  schema: Schema,
  value: unknown,
  what: string,
): TypeOf<Schema> {
  const reading = checkFormat(schema, value);
  if (reading.kind === "unreadable") throw new Error(`${what}: ${reading.cause}`);
  return reading.value;
}

function validatorOf(schema: object): ValidateFunction {
  let validate = validators.get(schema);
  if (!validate) {
    // published-schemas.test.ts checks the schemas themselves, once and not at every start
    compiler ??= new Ajv({
      discriminator: true,
      verbose: true,
      strict: false,
      strictNumbers: true,
      // durations and sizes are read where they are used
      validateFormats: false,
      meta: false,
      validateSchema: false,
    });
    validate = compiler.compile(schema);
    validators.set(schema, validate);
  }
  return validate;
}

function causeOf({ keyword, instancePath, params, data, message }: ErrorObject): string {
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
    case "discriminator":
      return `${[...path, params.tag].join(".")} is ${valueWords(params.tagValue)}, which is not known`;
    case "additionalProperties":
      return `${[...path, params.additionalProperty].join(".")} is not known`;
    default:
      return `${field} is ${valueWords(data)}: it ${message}`;
  }
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

const typeNames: Record<string, string> = {
  array: "a list",
  object: "an object",
  string: "a text",
  integer: "a whole number",
  number: "a finite number",
  boolean: "true or false",
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
