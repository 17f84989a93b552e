/** Windows beside a text: which it looks at, what each has, and how the gateway tells of it. */

import type { WindowNow, Windows } from "../../protocol/subscription";
import { GW } from "../../protocol/terms";

/** What somebody begins with who wants a window in a text of his own. */
export const FIRST: Windows = { "urn:window:last-10-min": { stream: `${GW}observations`, range: "PT10M" } };

/** The readings in a window, as a question. */
export function readingsOf(iri: string): string {
  return `PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT ?place ?property ?value ?time ?sensor WHERE {
  GRAPH <${iri}> {
    ?observation sosa:hasFeatureOfInterest ?place ;
      sosa:observedProperty ?property ;
      sosa:hasSimpleResult ?value ;
      sosa:resultTime ?time ;
      sosa:madeBySensor ?sensor .
  }
}`;
}

/** Declarations as somebody wrote them, {} for nothing; null for what is no object of objects. */
export function read(json: string): Windows | null {
  if (json.trim() === "") return {};
  try {
    const found: unknown = JSON.parse(json);
    return isObject(found) && Object.values(found).every(isObject) ? (found as Windows) : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Those that a text names, in full or by one of its prefixes: what it does not look at costs nothing. */
export function used(all: Windows, text: string): Windows {
  const prefixes = [...text.matchAll(/PREFIX\s+\S*:\s*<([^>]+)>/gi)].map((match) => match[1] ?? "");
  const isNamed = (iri: string): boolean =>
    text.includes(`<${iri}>`) || prefixes.some((prefix) => prefix !== "" && iri.startsWith(prefix));
  return Object.fromEntries(Object.entries(all).filter(([iri]) => isNamed(iri)));
}

/** A window as `GET /windows` tells it. */
export interface WindowTold extends WindowNow {
  window: Record<string, unknown>;
  names: string[];
  subscriptions: number;
  triples: number;
  bytes: number;
  late: number;
  dropped: number;
  expired: number;
}

/** What that tells of one that is called `iri`: the one that is declared alike, if several are. */
export function found(all: readonly WindowTold[], iri: string, declaration: Record<string, unknown>): WindowTold | undefined {
  const named = all.filter(({ names }) => names.includes(iri));
  const wanted = plain(declaration);
  return named.find(({ window }) => plain(window) === wanted) ?? (named.length === 1 ? named[0] : undefined);
}

function plain(members: Record<string, unknown>): string {
  const sorted = Object.keys(members)
    .sort()
    .map((name) => [name, Array.isArray(members[name]) ? [...(members[name] as unknown[])].sort() : members[name]]);
  return JSON.stringify(sorted);
}
