// The family of a model, by its name: a judge prefers answers of its own family. Pure.

/** Vendors of which a name can begin with the vendor, e.g. meta-llama-3. */
const vendor = /^(?:meta|mistralai|openai|anthropic|google|xai|amazon)-/;

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
  return /^(?:o\d|chatgpt|codex)/.test(name) ? "gpt" : (/^[a-z]+/.exec(name)?.[0] ?? provider);
}
