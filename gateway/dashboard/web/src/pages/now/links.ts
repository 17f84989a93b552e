/** Where a stream leads: why it is so, what to ask about it. */

import { GW, prologue } from "../../protocol/terms";
import { href } from "../../state/address";
import type { Stream } from "../../state/streams";

export function whyHref(observation: string): string {
  return href("why", ["trail"], { observation });
}

type Named = Pick<Stream, "sensor" | "property" | "place">;

export function askHref(stream: Named): string {
  const text = streamQuery(stream);
  return href("ask", [], { query: prologue(text) + text });
}

/** The same property everywhere: that of this place is one of its rows. */
export function streamQuery({ property }: Named): string {
  return `SELECT ?place ?value ?unit ?at {
  ?o sosa:observedProperty <${property}> ;
     sosa:hasFeatureOfInterest ?place ;
     sosa:hasSimpleResult ?value ;
     sosa:resultTime ?at .
  OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?unit }
}`;
}

/** What its device promises: the longest silence, in seconds. */
export function promiseQuery({ sensor, property, place }: Named): string {
  return `SELECT ?seconds { ?stream <${GW}ofSensor> <${sensor}> ; <${GW}ofProperty> <${property}> ;
  <${GW}ofFeature> <${place}> ; <${GW}expiresAfter> ?seconds }`;
}

/** Whether a query is about a property: it names it, by IRI or by prefix and name. */
export function isAbout(sparql: string, property: string): boolean {
  if (sparql.includes(`<${property}>`)) return true;
  for (const [, prefix = "", base = ""] of sparql.matchAll(/PREFIX\s+([\w-]*):\s*<([^>]*)>/gi)) {
    if (!base || !property.startsWith(base)) continue;
    const name = `${prefix}:${property.slice(base.length)}`;
    const at = sparql.indexOf(name, sparql.lastIndexOf("PREFIX"));
    if (at >= 0 && !/[\w-]/.test(sparql[at + name.length] ?? " ")) return true;
  }
  return false;
}
