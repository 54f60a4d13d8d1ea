// Runs a Python script of the stage in the stage's own environment.
import { fileURLToPath } from "node:url";
import { $ } from "zx";
import { sourceFile } from "./source-file.ts";

/** Where the modules live that Python scripts import from kit. */
const modules = fileURLToPath(new URL("../python", import.meta.url));

/**
 * Runs `script` with the Python of the environment that the stage declares (`environment:` in the
 * pipeline) and passes its output through. Throws when the script fails: the stage then fails too; and
 * when the stage does not declare the script among its files.
 */
export async function python(script: string, args: string[]): Promise<void> {
  const interpreter = process.env.MLRB_PYTHON;
  if (!interpreter) {
    throw new Error(
      `${script} needs Python, and this stage declares no environment; by hand, set MLRB_PYTHON to a venv's python`,
    );
  }
  process.env.PYTHONPATH ??= modules; // the runner sets it; by hand it is not
  await $({ stdio: "inherit", quiet: true })`${interpreter} ${sourceFile(script)} ${args}`;
}
