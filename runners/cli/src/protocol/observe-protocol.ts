// Compares the last results with the protocol of their plan. Only reads.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "@mlrb/formats/report";
import type { ProtocolObservation, ProtocolResult } from "@mlrb/formats/report/protocol";
import type { NodePlace } from "../show/trace-nodes.ts";
import { rememberedFreezes, rememberedProtocols } from "./earlier-protocols.ts";
import { observedAttempts } from "./observe-attempts.ts";
import { armsOf, storedFacts } from "./protocol-facts.ts";
import { protocolResultOf, readProtocol } from "./protocol-file.ts";
import { freezeCommand, protocolPaths } from "./protocol-path.ts";

/** The text of a protocol's file, empty if it is gone, and what was observed. */
export type ProtocolEvidence = { text: string; observation: ProtocolObservation };

/** Undefined if no protocol was frozen. */
export function protocolEvidence(place: NodePlace, report: Report): ProtocolEvidence | undefined {
  const { plan, workspace } = place;
  const { state } = workspace;
  const isFile = (one: string) => existsSync(join(state.root, one));
  const paths = protocolPaths(plan);
  const path = paths.find(isFile) ?? paths.find((one) => rememberedFreezes(state, one).length > 0);
  if (path === undefined) return undefined;
  const text = isFile(path) ? readFileSync(join(state.root, path), "utf8") : "";
  const reading = readProtocol(text);
  const remembered = rememberedProtocols(
    state,
    path,
    reading.kind === "ok" ? reading.value.digest : undefined,
  );
  const facts = storedFacts(place);
  // what the tables used, whatever the plan says today
  const tasks = facts.tasks.map((one) => ({
    ...one,
    primary: report.tasks.find(({ name }) => name === one.task)?.primary ?? null,
  }));
  const arms = armsOf(report.attempts);
  const attempts = observedAttempts(plan, workspace, report);
  return { text, observation: { formatVersion: 1, path, ...facts, arms, tasks, attempts, ...remembered } };
}

export function protocolOf(place: NodePlace, report: Report): ProtocolResult {
  const evidence = protocolEvidence(place, report);
  if (!evidence) return { kind: "none", freeze: freezeCommand(place.plan) };
  return protocolResultOf(evidence.text, evidence.observation);
}
