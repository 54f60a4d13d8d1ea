// Fills the blanks of a task's prompt. An unknown blank is a mistake in the prompt, found before an agent is paid
// for reading it.
export type PromptBlanks = { deadline: string; budget: string; seed: string };

/** Throws on an unknown blank. */
export function renderPrompt(template: string, blanks: PromptBlanks): string {
  return template.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, name: string) => {
    if (Object.hasOwn(blanks, name)) return blanks[name as keyof PromptBlanks];
    throw new Error(
      `the prompt has an unknown blank {{${name}}}; it may use ${Object.keys(blanks)
        .map((known) => `{{${known}}}`)
        .join(", ")}`,
    );
  });
}

/** The text of others first, unchanged; then our own. */
export function withForeword(foreword: string | undefined, prompt: string): string {
  return foreword === undefined ? prompt : `${foreword}\n\n---\n\n${prompt}`;
}

/** A text after our own, e.g. of a level of difficulty. */
export function withAfterword(prompt: string, afterword: string | undefined): string {
  return afterword === undefined ? prompt : `${prompt.trimEnd()}\n\n---\n\n${afterword}`;
}

const units: [string, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
  ["millisecond", 1],
];

/** A duration in words: `1 hour 30 minutes`. */
export function spokenDuration(ms: number): string {
  let left = Math.round(ms);
  const words: string[] = [];
  for (const [unit, length] of units) {
    const many = Math.floor(left / length);
    left -= many * length;
    if (many > 0) words.push(`${many} ${unit}${many === 1 ? "" : "s"}`);
  }
  return words.join(" ") || "no time";
}

/** A template for an attempt that downloads through the gateway. */
export function withDownloadsText(template: string): string {
  return `${template.trimEnd()}
${downloadsText}`;
}

const downloadsText = `
---

This machine has no network. Programs here can download through a gateway, by their usual commands: models and data
sets of the Hugging Face hub (\`huggingface_hub\`, \`HF_ENDPOINT\` is set) and Python packages (\`pip\`, \`uv\`).
Archives of some code repositories are at \`$MLRB_CODE/OWNER/NAME/tar.gz/COMMIT\`. Uploads, logins and other addresses do
not work. Every file that you download is recorded. The rows of this task's evaluation data are not served, whatever
file holds them; other splits of the same data are. A refused request says why.
`;
