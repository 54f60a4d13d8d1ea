// Compiles a schema once for each installation and not once for each process: compiling the schema of pipelines
// takes as long as planning 1 500 instances, and ajv's compiler has sixty modules to load. The code of a validator
// is stored next to Node's compile cache, under a digest of everything that it is made from, so it is never out of
// date.
import { hash } from "node:crypto";
import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options, ValidateFunction } from "ajv";

/** Checks of formats, by name. */
type Formats = Record<string, (text: string) => boolean>;

type MakeValidator = (formats: Formats, require: NodeJS.Require) => ValidateFunction;

const require = createRequire(import.meta.url);
const storedIn = fileURLToPath(new URL("../../../node_modules/.cache/mlrb-validators", import.meta.url));

/**
 * `options` must be JSON. Code that is missing, torn, or that cannot be read or stored (a read-only installation,
 * a stage that may not read it) is compiled in this process.
 */
export function storedValidator(
  schema: object,
  { options, formats, folder = storedIn }: { options: Options; formats: Formats; folder?: string },
): ValidateFunction {
  const { version } = require("ajv/package.json") as { version: string };
  const name = hash("sha256", JSON.stringify([1, version, options, Object.keys(formats), schema]));
  const path = join(folder, `${name}.cjs`);
  const stored = validatorAt(path, formats);
  if (stored) return stored;
  if (mayStoreIn(folder)) {
    store(path, codeOf(schema, options, formats));
    const made = validatorAt(path, formats);
    if (made) return made;
  }
  const unoptimised = { ...options, code: { optimize: false } }; // half of the time of compiling
  return compilerOf(unoptimised, formats).compile(schema);
}

/** The script of a stage may not: under Node's permission model even the question is noted as a refused write. */
function mayStoreIn(folder: string): boolean {
  if (process.permission) return false;
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Code without its end does not parse, and an empty file exports no function. */
function validatorAt(path: string, formats: Formats): ValidateFunction | undefined {
  try {
    const validate = (require(path) as MakeValidator)(formats, require) as unknown;
    return typeof validate === "function" ? (validate as ValidateFunction) : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(schema: object, options: Options, formats: Formats): string {
  const { _ } = require("ajv") as typeof import("ajv");
  const { default: standalone } =
    require("ajv/dist/standalone/index.js") as typeof import("ajv/dist/standalone/index.js");
  const ajv = compilerOf({ ...options, code: { source: true, formats: _`formats` } }, formats);
  const code = standalone(ajv, ajv.compile(schema));
  return `module.exports = (formats, require) => {\nconst module = { exports: {} };\n${code}\nreturn module.exports;\n};\n`;
}

function compilerOf(options: Options, formats: Formats) {
  const { Ajv } = require("ajv") as typeof import("ajv");
  const ajv = new Ajv(options);
  for (const [name, isOne] of Object.entries(formats)) ajv.addFormat(name, isOne);
  return ajv;
}

function store(path: string, code: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, code);
    renameSync(temporary, path);
  } catch {
    // it only saves time
  }
}
