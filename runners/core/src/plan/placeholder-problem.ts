// The diagnostic for a placeholder that cannot be filled in.
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { TemplateProblem } from "../yaml/template.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

/** `path` is where the text with the placeholder is written. */
export function placeholderProblem(
  { placeholder, message, help }: TemplateProblem,
  source: YamlSource,
  { path, at = "value" }: { path: Path; at?: "key" | "value" },
): Diagnostic {
  return {
    code: "unknown-placeholder",
    message: `{${placeholder}}: ${message}`,
    place: source.placeOf(path, `{${placeholder}}`, at),
    ...(help && { help }),
  };
}
