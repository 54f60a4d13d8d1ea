// Runs a Python script of the stage in the stage's own environment.
import { $ } from "zx";

/**
 * Runs `script` with the Python of the environment that the stage declares (`environment:` in the
 * pipeline) and passes its output through. Throws when the script fails: the stage then fails too.
 */
export async function python(script: string, args: string[]): Promise<void> {
  const interpreter = process.env.MLRB_PYTHON;
  if (!interpreter) {
    throw new Error(
      `${script} needs Python, and this stage declares no environment; by hand, set MLRB_PYTHON to a venv's python`,
    );
  }
  await $({ stdio: "inherit", quiet: true })`${interpreter} ${script} ${args}`;
}
