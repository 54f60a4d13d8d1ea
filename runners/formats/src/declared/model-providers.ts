// The providers of models that need no address in a preset, and the variable that holds the key of each.

export const keyVariables = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
} as const;

export type KnownProvider = keyof typeof keyVariables;

export function isKnownProvider(provider: string): provider is KnownProvider {
  return Object.hasOwn(keyVariables, provider);
}
