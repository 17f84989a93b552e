/** A question that acts: what is rehearsed, and the triples of the rule. */

import { GW, type Row, written } from "../../protocol/terms";

export interface Rule {
  sparql: string;
  topic: string;
  payload: string;
  on: "added" | "removed";
}

export interface Commands {
  messages: number;
  subscriptions_skipped: string;
  commands: { rule: string; topic: string; payload: string; message: { topic: string; received_at: string } | null }[];
  commands_count: number;
  rules_failed: { rule: string; reason: string }[];
}

const GRAPH = "https://sosa-gateway.example/graph/mappings";
const LABEL = "http://www.w3.org/2000/01/rdf-schema#label";

/** The names in `{…}` of a template that are no variables of the query. */
export function unknown(template: string, variables: readonly string[]): string[] {
  const there = new Set(variables);
  const named = [...template.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((match) => match[1] ?? "");
  return [...new Set(named)].filter((name) => !there.has(name));
}

/** What is wrong with it before it can be rehearsed: "" for nothing. */
export function lacking({ topic }: Rule): "topic" | "wildcard" | "" {
  if (!topic.trim()) return "topic";
  return /[+#\0]/.test(topic) ? "wildcard" : "";
}

/** A text as a SPARQL string. */
export function quoted(text: string): string {
  const escaped = text.replace(/[\\"\n\r\t]/g, (found) => ESCAPES[found] ?? found);
  return `"${escaped}"`;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** An IRI for a rule that is made now. */
export function newIri(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return `urn:sosa-gateway:rule:${bytes.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
}

/** The UPDATE that makes it: the gateway follows it from then on. */
export function made(iri: string, { sparql, topic, payload, on }: Rule, label: string): string {
  return `PREFIX gw: <${GW}>
INSERT DATA { GRAPH <${GRAPH}> {
  <${iri}> a gw:RepublishRule ;
    <${LABEL}> ${quoted(label)} ;
    gw:sparql ${quoted(sparql)} ;
    gw:topicTemplate ${quoted(topic)} ;
    gw:payloadTemplate ${quoted(payload)} ;
    gw:on gw:${on === "added" ? "Added" : "Removed"}
} }`;
}

/** The UPDATE that takes it away. */
export function unmade(iri: string): string {
  return `DELETE WHERE { GRAPH <${GRAPH}> { <${iri}> ?p ?o } }`;
}

/** All that is said of a rule: the query for `restored`. */
export function said(iri: string): string {
  return `SELECT ?p ?o { GRAPH <${GRAPH}> { <${iri}> ?p ?o } }`;
}

/** The UPDATE that brings a rule back as it was. */
export function restored(iri: string, rows: readonly Row[]): string {
  const triples = rows.flatMap(({ p, o }) => (p && o ? [`<${iri}> ${written(p)} ${written(o)} .`] : []));
  return `INSERT DATA { GRAPH <${GRAPH}> {\n${triples.join("\n")}\n} }`;
}

/** Rules that there are, with what they say. */
export const RULES = `PREFIX gw: <${GW}>
SELECT ?rule ?label ?topic ?payload ?on { GRAPH <${GRAPH}> {
  ?rule a gw:RepublishRule ; gw:topicTemplate ?topic ; gw:payloadTemplate ?payload ; gw:on ?on
  OPTIONAL { ?rule <${LABEL}> ?label } } } ORDER BY ?label ?rule LIMIT 200`;
