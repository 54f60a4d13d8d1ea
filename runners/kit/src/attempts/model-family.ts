// The family of a model, by its name: a judge prefers answers of its own family. Pure.

/** Vendors of which a name can begin with the vendor, e.g. meta-llama-3. */
const vendor = /^(?:meta|mistralai|openai|anthropic|google|xai|amazon)-/;

/** Names that do not begin with their family. */
const aliases: [RegExp, family: string][] = [
  [/^(?:o\d|chatgpt|codex|text-davinci)/, "gpt"],
  [/^(?:mixtral|ministral|magistral|codestral|devstral|pixtral)/, "mistral"],
  [/^(?:qwq|qvq)/, "qwen"],
  [/^codellama/, "llama"],
];

/**
 * E.g. gpt, claude, gemini, llama, qwen: the first letters of the name without routers, regions and vendors, e.g.
 * of `openrouter/anthropic/claude-…` or `us.meta.llama3-…`. The provider's name if there are no letters.
 */
export function familyOf({ provider, id }: { provider: string; id: string }): string {
  const last = id.toLowerCase().split("/").at(-1)!;
  // a part before a dot without digits is a region or a vendor
  const name = last
    .replace(/^ft:/, "")
    .replace(/^(?:[a-z-]+\.)+/, "")
    .replace(vendor, "");
  const alias = aliases.find(([pattern]) => pattern.test(name));
  return alias?.[1] ?? /^[a-z]+/.exec(name)?.[0] ?? provider;
}
