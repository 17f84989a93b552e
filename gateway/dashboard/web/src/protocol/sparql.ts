/** QUERY and UPDATE over the SPARQL 1.1 Protocol. */

import { send } from "./http";
import type { Federated, Scope } from "./subscription";
import type { Results, Row } from "./terms";

const RESULTS = "application/sparql-results+json";

/** The whole answer of a QUERY (SELECT or ASK). Raises ApiError and AwayError. */
export async function ask(text: string, signal?: AbortSignal): Promise<Results> {
  const answer = await send("/query", {
    method: "POST",
    headers: { "Content-Type": "application/sparql-query", Accept: RESULTS },
    body: text,
    ...(signal ? { signal } : {}),
  });
  return (await answer.json()) as Results;
}

/** The same of several gateways, with where they stood and who is missing: what is there is answered. */
export async function askOver(text: string, scope: Scope, signal: AbortSignal): Promise<[Results, Federated]> {
  const { gateways, mode } = scope;
  const answer = await send("/query", {
    method: "POST",
    parameters: { gateways: gateways === "all" ? gateways : gateways.join(","), mode, missing: "allow" },
    headers: { "Content-Type": "application/sparql-query", Accept: RESULTS },
    body: text,
    signal,
  });
  const listed = (name: string): string[] => answer.headers.get(name)?.split(/,\s*/) ?? [];
  const positions = Object.fromEntries(listed("Federation-Position").map((each) => each.split("=", 2) as [string, string]));
  return [(await answer.json()) as Results, { positions, missing: listed("Federation-Missing") }];
}

/** The rows of a SELECT. */
export async function query(text: string, signal?: AbortSignal): Promise<Row[]> {
  return (await ask(text, signal)).results?.bindings ?? [];
}

/** What an UPDATE changed, and what is wrong with what it wrote. */
export interface Updated {
  added: number;
  removed: number;
  warnings?: string[];
}

export async function update(text: string): Promise<Updated> {
  const answer = await send("/update", {
    method: "POST",
    headers: { "Content-Type": "application/sparql-update" },
    body: text,
  });
  const told = (await answer.json()) as { response: { body: Updated } };
  return told.response.body;
}
