import type { Json } from "./schema.ts";

/** Whether `value` is a table of YAML or an object of JSON: neither null nor a list. */
export function isTable(value: Json | undefined): value is { [key: string]: Json };
export function isTable(value: unknown): value is Record<string, unknown>;
export function isTable(value: unknown): boolean {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
