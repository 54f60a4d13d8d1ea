// Checks data from outside this process against its format: files, lines of logs, answers of programs. Data that
// does not follow the format becomes a value with its cause, so a bad file costs one entry and not the run.
import { createRequire } from "node:module";
import type { Options, ValidateFunction } from "ajv";
import { isTable } from "./is-table.ts";
import { causeOf, outsideUnions, valueWords } from "./problem-words.ts";
import type * as t from "./schema.ts";
import { storedValidator } from "./stored-validator.ts";

/** `help`: the way out where the cause is another version of the format. */
export type Reading<T> = { kind: "ok"; value: T } | { kind: "unreadable"; cause: string; help?: string };

// Most starts of the program check nothing, and importing ajv would take longer than the rest of their work.
const require = createRequire(import.meta.url);

// Most data follows its format, and its validator has no messages. It is compiled once for each installation:
// compiling takes 30 to 60 ms, which each script of a stage would pay. Validators with messages are compiled when
// they are needed.
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
): Reading<t.TypeOf<Schema>> {
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
): Reading<t.TypeOf<Schema>> {
  if (quickValidator(schema)(value)) return { kind: "ok", value: value as t.TypeOf<Schema> };
  const validate = wordy.getOrInsertComputed(schema, () => wordyValidator(schema));
  validate(value);
  return { kind: "unreadable", ...(versionCause(schema, value) ?? { cause: causeOf(validate.errors!) }) };
}

/** A check without a cause, fast enough for millions of lines. */
export function followsFormat<const Schema extends object>(
  schema: Schema,
): (value: unknown) => value is t.TypeOf<Schema> {
  return quickValidator(schema) as unknown as (value: unknown) => value is t.TypeOf<Schema>;
}

/** For data that this program wrote itself. Throws with `what` and the cause if `value` does not follow `schema`. */
export function mustFollow<const Schema extends object>(
  schema: Schema,
  value: unknown,
  what: string,
): t.TypeOf<Schema> {
  const reading = checkFormat(schema, value);
  if (reading.kind === "unreadable") throw new Error(`${what}: ${reading.cause}`);
  return reading.value;
}

/** Every problem of a value that does not follow `schema`. */
export function formatProblems(schema: object, value: unknown): string[] {
  const validate = wordyValidator(schema, { allErrors: true });
  validate(value);
  const errors = validate.errors ?? [];
  return outsideUnions(errors).map((error) => causeOf([...errors, error]));
}

function quickValidator(schema: object): ValidateFunction {
  return quick.getOrInsertComputed(schema, () => storedValidator(schema, { options, formats: {} }));
}

function wordyValidator(schema: object, more: Options = {}): ValidateFunction {
  const { Ajv } = require("ajv") as typeof import("ajv");
  const code = { optimize: false };
  return new Ajv({ ...options, ...more, verbose: true, messages: true, code }).compile(schema);
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
