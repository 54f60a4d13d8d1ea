// `pipeline check`: prints every problem of the YAML files.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { rememberedAnswer } from "../request/remembered-answer.ts";
import { typedIn } from "../request/root-folder.ts";

/** Only a result without problems is remembered. */
export async function checkCommand(
  repository: string,
  files: string[],
  options: { json: boolean },
): Promise<number> {
  let problems: Diagnostic[] = [];
  let checked = 0;
  const asked = { command: "check", files, from: files.length > 0 ? typedIn() : "" };
  const held = await rememberedAnswer({ repository, root: repository, asked }, async (consulted) => {
    if (process.stderr.isTTY)
      process.stderr.write("checking every YAML file, some seconds; remembered until one changes\n");
    const { filesChecked } = await import("../show/check-files.ts");
    ({ problems, checked } = await filesChecked(repository, files, consulted));
    return { keep: problems.length === 0 ? checked : undefined };
  });
  if (problems.length > 0) {
    const { refuse } = await import("../request/refuse.ts");
    return refuse(problems, options.json);
  }
  const line = { event: "summary", checked: held ?? checked, problems: 0 };
  process.stdout.write(
    options.json ? `${JSON.stringify(line)}\n` : `${line.checked} files checked, no problems\n`,
  );
  return 0;
}
