// Golden files of diagnostics: Markdown with a heading, the wrong files and the whole output for each case, so
// that fixture and output are reviewed together.
import { readFileSync, writeFileSync } from "node:fs";

export type GoldenCase = {
  title: string;
  /** Files by path; a file without a name is the pipeline. */
  files: Record<string, string>;
  /** The request, as JSON. */
  request: Record<string, unknown>;
  expected: string;
};

const fence = /^```(\S+)(?: (.*))?\n([\s\S]*?)^```\n/gm;

export function readGolden(path: string): GoldenCase[] {
  const [, ...sections] = readFileSync(path, "utf8").split(/^## /m);
  return sections.map((section) => {
    const found: GoldenCase = { title: section.split("\n")[0]!, files: {}, request: {}, expected: "" };
    for (const [, kind, name, body] of section.matchAll(fence)) {
      if (kind === "text") found.expected = body!.replace(/\n$/, "");
      else if (kind === "json") found.request = JSON.parse(body!) as Record<string, unknown>;
      else found.files[name ?? "pipelines/test.yaml"] = body!;
    }
    return found;
  });
}

/** Writes the outputs into the file and keeps the rest. */
export function updateGolden(path: string, answers: Map<string, string>): void {
  const [head, ...sections] = readFileSync(path, "utf8").split(/^## /m);
  const updated = sections.map((section) => {
    const answer = `\`\`\`text\n${answers.get(section.split("\n")[0]!)}\n\`\`\`\n`;
    const rest = section.replace(/^```text\n[\s\S]*?^```\n/m, "").trimEnd();
    return `${rest}\n\n${answer}`;
  });
  writeFileSync(
    path,
    `${[head!.trimEnd(), ...updated.map((section) => `\n## ${section.trimEnd()}`)].join("\n")}\n`,
  );
}
