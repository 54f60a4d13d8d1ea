// The providers that an agent's preset lets its program reach, with what only the supervisor has: the real address
// and the real key.
import type { AgentPreset } from "@mlrb/formats/declared/agent-preset";

type PresetProvider = NonNullable<AgentPreset["gateway"]>[number];
export type GatewayProtocol = NonNullable<PresetProvider["protocol"]>;

export type GatewayProvider = {
  /** The provider's name in the program's addresses: `/NAME/v1/…`. */
  name: string;
  protocol: GatewayProtocol;
  /** Includes the version, as the AI SDK takes it, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Absent for an endpoint without keys. A person may replace it while the attempt waits. */
  key?: string;
  /** Name of the variable with the key. */
  keyName?: string;
  /** Model ids; one that ends in `*` is a prefix. */
  ids: string[];
  /** Calls cost nothing, e.g. at a local endpoint. */
  free: boolean;
};

export const knownProviders = new Map<string, Pick<GatewayProvider, "protocol" | "baseUrl">>([
  ["openai", { protocol: "openai", baseUrl: "https://api.openai.com/v1" }],
  ["anthropic", { protocol: "anthropic", baseUrl: "https://api.anthropic.com/v1" }],
  ["google", { protocol: "google", baseUrl: "https://generativelanguage.googleapis.com/v1beta" }],
]);

/** Hosts of the known providers: an address there names what an account stores. */
export const knownHosts = [...knownProviders.values()].map(({ baseUrl }) => new URL(baseUrl).hostname);

/** From the field `gateway` of a preset. Throws with a way out if it makes no sense or a key is not set. */
export function gatewayProviders(
  entries: PresetProvider[],
  env: NodeJS.ProcessEnv = process.env,
): GatewayProvider[] {
  const names = entries.map((entry) => entry.provider);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`\`gateway\` of the preset names the provider ${twice} twice`);
  return entries.map((entry) => provider(entry, env));
}

function provider(entry: PresetProvider, env: NodeJS.ProcessEnv): GatewayProvider {
  const { provider: name, key, ids, free = false } = entry;
  const wellKnown = knownProviders.get(name);
  const baseUrl = entry.baseUrl ?? wellKnown?.baseUrl;
  if (baseUrl === undefined)
    throw new Error(`\`gateway\`, provider ${name}: write its \`baseUrl\`, e.g. http://127.0.0.1:8000/v1`);
  if (key !== undefined && !env[key])
    throw new Error(
      `${key} is not set: it holds the key for ${name}; export it where you run, and list it in the preset's \`secrets\``,
    );
  return {
    name,
    protocol: entry.protocol ?? wellKnown?.protocol ?? "openai",
    baseUrl: baseUrl.replace(/\/+$/, ""),
    ...(key !== undefined && { key: env[key]!, keyName: key }),
    ids,
    free,
  };
}

/** `network`: whether the attempt may reach a network in other ways. */
export function mayUse(
  { ids }: Pick<GatewayProvider, "ids">,
  model: string,
  { network }: { network: boolean },
): boolean {
  const fits = (id: string) => id.endsWith("*") && model.startsWith(id.slice(0, -1));
  return ids.some((id) => id === model || (fits(id) && (network || !maySearch(id, model))));
}

/** Whether a pattern allows the model, but only in attempts with a network. */
export function needsNetwork(provider: Pick<GatewayProvider, "ids">, model: string): boolean {
  return mayUse(provider, model, { network: true }) && !mayUse(provider, model, { network: false });
}

/**
 * Some models search by themselves (`gpt-4o-search-preview`, `o3-deep-research`, `sonar-pro`), and some servers
 * take settings behind a colon (`vendor/model:online`). A colon of the pattern's own is a part of its names.
 */
function maySearch(pattern: string, model: string): boolean {
  return (
    /(?<!re)search|online|deep-?research|\bsonar\b/iu.test(model) ||
    (model.includes(":") && !pattern.includes(":"))
  );
}

/** For the record: everything but the key. */
export function gatewayFacts(providers: GatewayProvider[]): Omit<GatewayProvider, "key" | "keyName">[] {
  return providers.map(({ key: _, keyName: __, ...facts }) => facts);
}
