// The variables that stages receive as secrets. One is missing if an attempt's preset names it as the key of a
// model, or if it is named after a provider that the stage calls.
import type { Instance } from "@mlrb/core/plan/plan";
import { actingPresets } from "@mlrb/formats/declared/agent-preset";
import { isTable } from "@mlrb/formats/is-table";
import { type Check, missing, note, works } from "./check.ts";
import { type Asked, quoted } from "./gate.ts";

export function keyGate({
  starts,
  host: { env },
}: Pick<Asked, "starts"> & { host: Pick<Asked["host"], "env"> }): Check[] {
  const names = [...new Set(starts.flatMap(({ action }) => action.secrets))].sort();
  return names.map((name) => {
    const handed = starts.filter(({ action }) => action.secrets.includes(name));
    const stages = quoted(handed.map(({ stage }) => stage.name));
    if (env[name]) return works(name, `set, for ${stages}`);
    const help = `export ${name}=… before the run; it is never logged or keyed, and no sandbox receives it`;
    const [first, ...more] = handed.filter((one) => calls(one, name));
    if (!first) return note(name, `not set; optional for ${stages}`, help);
    const callers = `${first.id}${more.length > 0 ? ` and ${more.length} more call` : " calls"} models with it`;
    return missing(name, `${name} is not set, and ${callers}`, help, { code: "no-key" });
  });
}

function calls({ stage, action, execution }: Instance, name: string): boolean {
  if (providersIn(execution).some(isNamedAfter(name))) return true;
  if (!stage.durable && !stage.spec.paidAnswers) return false;
  const tables = actingPresets(action.params)
    .flatMap((preset) => Object.values(preset))
    .flatMap((value) => (Array.isArray(value) ? value : [value]));
  return tables.some((value) => isTable(value) && value.key === name);
}

/** From the pools that an instance uses: `api:NAME`. */
function providersIn({ resources }: Instance["execution"]): string[] {
  return Object.entries(resources.pools)
    .filter(([pool, amount]) => pool.startsWith("api:") && amount > 0)
    .map(([pool]) => pool.slice("api:".length));
}

/** `OPENAI_API_KEY` is named after `openai`. */
function isNamedAfter(secret: string): (provider: string) => boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return (provider) => plain(provider) !== "" && plain(secret).startsWith(plain(provider));
}
