// Compares the last results with the protocol of their plan. Only reads.
import type { Report } from "@mlrb/formats/report";
import type { ProtocolObservation, ProtocolResult } from "@mlrb/formats/report/protocol";
import { protocolInForce, protocolPath } from "@mlrb/local/attempts/protocol-in-force";
import type { NodePlace } from "../show/trace-nodes.ts";
import { observedAttempts } from "./observe-attempts.ts";
import { armsOf, storedFacts } from "./protocol-facts.ts";
import { protocolResultOf } from "./protocol-file.ts";
import { freezeCommand } from "./protocol-path.ts";

/** The text of a protocol's file, empty if it is gone, and what was observed. */
export type ProtocolEvidence = { text: string; observation: ProtocolObservation };

/** Undefined if there is no protocol, and no attempt started with one. */
export function protocolEvidence(place: NodePlace, report: Report): ProtocolEvidence | undefined {
  const { plan, workspace } = place;
  const file = protocolInForce(workspace.state.root, plan);
  const attempts = observedAttempts(plan, workspace, report);
  if (file === undefined && attempts.started.every(({ protocol }) => protocol === null)) return undefined;
  const facts = storedFacts(place);
  // what the tables used, whatever the plan says today
  const tasks = facts.tasks.map((one) => ({
    ...one,
    primary: report.tasks.find(({ name }) => name === one.task)?.primary ?? null,
  }));
  const arms = armsOf(report.attempts);
  const { path, text } = file ?? { path: protocolPath(plan), text: "" };
  return { text, observation: { formatVersion: 1, path, ...facts, arms, tasks, ...attempts } };
}

export function protocolOf(place: NodePlace, report: Report): ProtocolResult {
  const evidence = protocolEvidence(place, report);
  if (!evidence) return { kind: "none", freeze: freezeCommand(place.plan) };
  return protocolResultOf(evidence.text, evidence.observation);
}
