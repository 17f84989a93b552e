/** What is offered while one types: properties and units that are known. */

import vocabulary from "../../vocabulary.json";

export interface Term {
  iri: string;
  name: string;
}

/** By name. */
export const PROPERTIES: Term[] = Object.entries(vocabulary.properties as Record<string, { label: string }>)
  .map(([name, { label }]) => ({ iri: vocabulary.base + name, name: label }))
  .sort((a, b) => a.name.localeCompare(b.name));

/** Symbols, each once. */
export const UNITS: string[] = [...new Set(Object.values(vocabulary.units as Record<string, string>))];

/** The IRI of what somebody typed: its name, or the IRI itself. */
export function resolved(text: string, terms: Term[]): string {
  const wanted = text.trim().toLowerCase();
  return terms.find(({ name }) => name.toLowerCase() === wanted)?.iri ?? text.trim();
}
