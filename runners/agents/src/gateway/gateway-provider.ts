// The providers that an agent's preset lets its program reach, with what only the supervisor knows: the real
// address and the real key.
import type { Json } from "@mlrb/kit/stage";

export type GatewayProtocol = "openai" | "anthropic" | "google";

export type GatewayProvider = {
  /** As the program sees it, in the address: `/NAME/v1/…`. */
  name: string;
  protocol: GatewayProtocol;
  /** With its version, as the AI SDK takes it, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** None for an endpoint that asks for none. A person may replace it while the attempt waits. */
  key?: string;
  /** Name of the variable that holds it. */
  keyName?: string;
  /** Model ids; one that ends in `*` stands for all that begin so. */
  ids: string[];
  /** Calls cost nothing, e.g. at an endpoint of one's own. */
  free: boolean;
};

const known: Record<string, { protocol: GatewayProtocol; baseUrl: string }> = {
  openai: { protocol: "openai", baseUrl: "https://api.openai.com/v1" },
  anthropic: { protocol: "anthropic", baseUrl: "https://api.anthropic.com/v1" },
  google: { protocol: "google", baseUrl: "https://generativelanguage.googleapis.com/v1beta" },
};

const protocols = ["openai", "anthropic", "google"];

/** From the field `gateway` of a preset. Throws with what to write where it makes no sense or a key is not set. */
export function gatewayProviders(field: Json, env: NodeJS.ProcessEnv = process.env): GatewayProvider[] {
  if (field === null) return [];
  if (!Array.isArray(field)) throw new Error("`gateway` of the preset is no list of providers");
  const providers = field.map((entry) => provider(entry, env));
  const twice = providers.find(({ name }, index) => providers.findIndex((one) => one.name === name) < index);
  if (twice) throw new Error(`\`gateway\` of the preset names the provider ${twice.name} twice`);
  return providers;
}

function provider(entry: Json, env: NodeJS.ProcessEnv): GatewayProvider {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry))
    throw new Error(
      "an entry of `gateway` in the preset is no table; write `{ provider, key, ids: [MODEL, …] }`",
    );
  const { provider: name, key, free } = entry;
  if (typeof name !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw new Error("an entry of `gateway` in the preset names no `provider`");
  const protocol = entry.protocol ?? known[name]?.protocol ?? "openai";
  if (typeof protocol !== "string" || !protocols.includes(protocol))
    throw new Error(`\`gateway\`, provider ${name}: \`protocol\` is one of ${protocols.join(", ")}`);
  const baseUrl = entry.baseUrl ?? known[name]?.baseUrl;
  if (typeof baseUrl !== "string" || !/^https?:\/\//.test(baseUrl))
    throw new Error(`\`gateway\`, provider ${name}: write its \`baseUrl\`, e.g. http://127.0.0.1:8000/v1`);
  const ids = Array.isArray(entry.ids) ? entry.ids.filter((id) => typeof id === "string" && id !== "") : [];
  if (ids.length === 0)
    throw new Error(`\`gateway\`, provider ${name}: list the models that it may use, \`ids: [MODEL, …]\``);
  if (typeof key === "string" && !env[key])
    throw new Error(
      `${key} is not set: it holds the key for ${name}; export it where you run, and list it in the preset's \`secrets\``,
    );
  return {
    name,
    protocol: protocol as GatewayProtocol,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    ...(typeof key === "string" && { key: env[key]!, keyName: key }),
    ids: ids as string[],
    free: free === true,
  };
}

export function mayUse({ ids }: GatewayProvider, model: string): boolean {
  return ids.some((id) => (id.endsWith("*") ? model.startsWith(id.slice(0, -1)) : model === id));
}

/** For the record: everything but the key. */
export function gatewayFacts(providers: GatewayProvider[]): Omit<GatewayProvider, "key" | "keyName">[] {
  return providers.map(({ key: _, keyName: __, ...facts }) => facts);
}
