// The known prices: of the table, and of --price.
import { createRequire } from "node:module";
import type { PriceBook } from "@mlrb/agents/spending/prices";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";

// What reads YAML is loaded only for a plan in which something could cost dollars.
const require = createRequire(import.meta.url);

/** The table of prices is read as well, so a plan without an attempt that could cost anything does not call this. */
export function bookOf(prices: string[]): PriceBook | Diagnostic {
  const { priceBook } =
    require("@mlrb/agents/spending/prices") as typeof import("@mlrb/agents/spending/prices");
  try {
    return priceBook([{ run: null, prices }]);
  } catch (error) {
    return { code: "bad-price", message: (error as Error).message };
  }
}
