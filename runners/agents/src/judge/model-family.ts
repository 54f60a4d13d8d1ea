// The family of a model: a judge prefers texts of its own, so it does not judge agents of its family alone. Pure.

const families: [family: string, ids: RegExp][] = [
  ["claude", /claude/],
  ["gpt", /(^|[/.-])(gpt|chatgpt|codex|o[1-9])(-|$)/],
  ["gemini", /gemini|gemma/],
  ["llama", /llama/],
  ["qwen", /qwen|qwq/],
  ["mistral", /mi[sx]tral|codestral|devstral/],
  ["deepseek", /deepseek/],
];

/** An unknown model is a family of its own. */
export function familyOf({ provider, id }: { provider: string; id: string }): string {
  const name = id.toLowerCase();
  return families.find(([, ids]) => ids.test(name))?.[0] ?? `${provider}/${id}`;
}
