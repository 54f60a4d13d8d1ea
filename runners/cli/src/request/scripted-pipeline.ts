// A pipeline written as a program: pipelines/NAME.ts default-exports the data that a YAML file would hold. It is
// converted to YAML and checked like YAML, and a problem is shown with its place in that YAML.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Consulted } from "@mlrb/local/decide/consulted-files";
import { stringify } from "yaml";

/**
 * Returns `sources` in which a scripted pipeline's file reads as YAML; for other files `sources` itself. Marks
 * `consulted` so that nothing is remembered: a program may read any file.
 */
export async function withScripted(
  repository: string,
  file: string,
  sources: Sources,
  consulted?: Consulted,
): Promise<Sources | Diagnostic> {
  if (!file.endsWith(".ts")) return sources;
  if (consulted) consulted.fresh = true;
  const problem = (message: string): Diagnostic => ({
    code: "scripted-pipeline",
    message: `${file}: ${message}`,
    help: "its default export must be the data that a YAML pipeline holds",
  });
  let text: string;
  try {
    const module = (await import(pathToFileURL(join(repository, file)).href)) as { default?: unknown };
    if (module.default === undefined) return problem("has no default export");
    // through JSON, which drops functions and other values that YAML cannot hold
    text = stringify(JSON.parse(JSON.stringify(module.default) ?? "null"));
  } catch (error) {
    return problem(`cannot be loaded: ${(error as Error).message}`);
  }
  return { ...sources, read: (path) => (path === file ? text : sources.read(path)) };
}
