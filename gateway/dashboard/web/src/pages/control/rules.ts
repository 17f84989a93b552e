/** Rules that command an actuator, and UPDATEs that will. */

import { type Row, localName } from "../../protocol/terms";
import type { Actuator } from "./actuators";

export const RULES = `SELECT ?rule ?topic ?payload ?on ?query ?text {
  GRAPH graph:mappings { ?rule a gw:RepublishRule ; gw:topicTemplate ?topic ; gw:payloadTemplate ?payload ; gw:on ?on
    OPTIONAL { ?rule gw:query ?query } OPTIONAL { ?rule gw:sparql ?text } } }`;

export interface Rule {
  iri: string;
  name: string;
  /** Template of the topic, with `{variable}` in it. */
  topic: string;
  payload: string;
  /** Which rows it sends: those that come, those that go. */
  on: "added" | "removed" | "both";
  /** The query's name in a profile, or its text. */
  query: string;
  text: string;
}

export function ruleOf(row: Row): Rule {
  const on = localName(row.on?.value ?? "").toLowerCase();
  return {
    iri: row.rule?.value ?? "",
    name: localName(row.rule?.value ?? ""),
    topic: row.topic?.value ?? "",
    payload: row.payload?.value ?? "",
    on: on === "added" || on === "removed" ? on : "both",
    query: row.query?.value ?? "",
    text: row.text?.value ?? "",
  };
}

export interface Commanding {
  rule: Rule;
  /** Past the gateway's actuations, to the device itself: nothing confirms it. */
  isStraight: boolean;
}

/** The rules whose topic may be that of an actuator's commands. */
export function commanding(rules: readonly Rule[], actuator: Actuator): Commanding[] {
  return rules.flatMap((rule): Commanding[] => {
    const pattern = topicPattern(rule.topic);
    if (pattern.test(actuator.topic)) return [{ rule, isStraight: false }];
    return pattern.test(actuator.commandTopic) ? [{ rule, isStraight: true }] : [];
  });
}

/** A variable stands for anything within a level. */
function topicPattern(template: string): RegExp {
  const parts = template.split(/\{[^{}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]*")}$`);
}

/** `GET /update/delayed` */
export interface Delayed {
  id: string;
  due: string;
  sparql: string;
  "using-graph-uri"?: string[];
  "using-named-graph-uri"?: string[];
}

/** What an UPDATE that waits will command, where that can be read from it. */
export function willCommand(delayed: Delayed, actuators: readonly Actuator[]): { actuator: Actuator; value: string } | null {
  const text = delayed.sparql;
  if (!/madeByActuator/.test(text)) return null;
  const actuator = actuators.find(({ id }) => text.includes(`<${id}>`));
  const value = /hasSimpleResult>?\s+("(?:[^"\\]|\\.)*"|[\w.+-]+)/.exec(text)?.[1];
  return actuator && value !== undefined ? { actuator, value: value.replace(/^"|"$/g, "") } : null;
}

/** An UPDATE that commands: for one that waits. `iri` is the actuation's. */
export function commandText(iri: string, actuator: Actuator, value: boolean | number | string): string {
  const written = typeof value === "string" ? JSON.stringify(value) : String(value);
  return `PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX gw: <https://sosa-gateway.example/ns#>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/actuations> {
  <${iri}> a sosa:Actuation ; sosa:madeByActuator <${actuator.id}> ;
    sosa:hasSimpleResult ${written} ; gw:status gw:Requested } }`;
}
