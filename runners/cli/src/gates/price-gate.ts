// A limit in dollars can only be enforced with known prices: refuses a run before anything starts if an attempt with
// such a limit may call a model without a price in the table or in --price.
import { createRequire } from "node:module";
import { agentModels, priceHelp, unpriced } from "@mlrb/agents/model/agent-models";
import type { PriceBook } from "@mlrb/agents/spending/prices";
import type { Instance } from "@mlrb/core/plan/plan";
import { shellWord } from "@mlrb/core/ports/command-line";
import type { Sources } from "@mlrb/core/spec/manifest";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { RunPurse } from "@mlrb/local/run/run-request";
import type { Request } from "../request/request.ts";
import { typedProgram } from "../request/typed-program.ts";
import { type CostOptions, costLimits } from "./cost-gate.ts";
import { type Gate, startedIn } from "./gate.ts";

// What reads YAML is loaded only for a plan in which something could cost dollars.
const require = createRequire(import.meta.url);

/** The prices of `--price` and the limit of `--max-cost`, which holds even with `--yes`. */
export function runPurse(options: CostOptions): RunPurse | Diagnostic {
  const prices = options.price ?? [];
  const book = prices.length > 0 && bookOf(prices);
  if (book && "code" in book) return book;
  const limits = costLimits(options);
  if ("code" in limits) return limits;
  return { prices, ...(options.maxCost !== undefined && { maxDollars: limits.dollars }) };
}

/** The table of prices is read as well, so a plan without an attempt that could cost anything does not call this. */
function bookOf(prices: string[]): PriceBook | Diagnostic {
  const { priceBook } =
    require("@mlrb/agents/spending/prices") as typeof import("@mlrb/agents/spending/prices");
  try {
    return priceBook([{ run: null, prices }]);
  } catch (error) {
    return { code: "bad-price", message: (error as Error).message };
  }
}

/** Why the run may not start, if it may not. */
export async function priceGate(
  { plan, selected }: Pick<Request, "plan" | "selected">,
  gate: Gate,
  purse: RunPurse,
): Promise<Diagnostic | undefined> {
  const capped = purse.maxDollars !== undefined;
  if (!selected.some((index) => isLimited(plan.instances[index]!, capped))) return undefined;
  const prices = bookOf(purse.prices);
  if ("code" in prices) return prices;
  const lacking = selected.filter(
    (index) => unknownIn(plan.instances[index]!, { prices, capped }).length > 0,
  );
  if (lacking.length === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  return noPrices(previews, plan.instances, {
    ...{ prices, capped },
    command: [typedProgram(), ...process.argv.slice(2).map(shellWord)].join(" "),
    sources: sourceFiles(gate.workspace.repository),
  });
}

type Known = { prices: PriceBook; capped: boolean };

/** The problem of starting `previews`. */
export function noPrices(
  previews: Pick<Preview, "index" | "action" | "onStale">[],
  instances: Instance[],
  { sources, command, ...known }: Known & { sources: Sources; command?: string },
): Diagnostic | undefined {
  const started = startedIn(previews)
    .map(({ index }) => instances[index]!)
    .filter((instance) => unknownIn(instance, known).length > 0);
  const [first, ...more] = started;
  if (!first) return undefined;
  const unknown = unknownIn(first, known);
  const { dollars } = first.action.budget;
  const limit = dollars === undefined ? "under --max-cost" : `at most ${dollars} dollars`;
  const others = more.length > 0 ? `, ${counted(more.length, "more attempt")} likewise` : "";
  const names = unknown.map(({ provider, id }) => `${provider} ${id}`).join(", ");
  const place = placeOf(first, unknown[0]!.id, sources);
  return {
    code: "no-price",
    message: `${first.id} may spend ${limit}${others}, but no price of ${names} is known: the limit could not be enforced`,
    ...(place && { place }),
    help: priceHelp(
      started.flatMap((instance) => unknownIn(instance, known)),
      command,
    ),
  };
}

/** Models without a known price that an attempt with limited dollars may call. */
function unknownIn(instance: Instance, { prices, capped }: Known) {
  return isLimited(instance, capped) ? unpriced(agentModels(instance.action.params), prices) : [];
}

/** Whether an attempt's dollars are limited. */
function isLimited({ stage, action }: Instance, capped: boolean): boolean {
  return stage.durable && (action.budget.dollars !== undefined || capped);
}

/** Where the preset names the model. */
function placeOf({ axes }: Instance, id: string, sources: Sources) {
  if (axes.agent === undefined) return undefined;
  const { readManifest } = require("@mlrb/core/spec/manifest") as typeof import("@mlrb/core/spec/manifest");
  const preset = readManifest("agent", String(axes.agent), sources);
  if (preset === undefined || Array.isArray(preset)) return undefined;
  const { gateway = [] } = preset.value;
  const entry = gateway.findIndex(({ ids }) => ids.includes(id));
  if (entry < 0) return preset.place(["model", "id"]);
  return preset.place(["gateway", entry, "ids", gateway[entry]!.ids.indexOf(id)]);
}
