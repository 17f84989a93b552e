/** RDF terms and rows as SPARQL 1.1 Query Results JSON tells them. */

export interface Term {
  type: "uri" | "literal" | "typed-literal" | "bnode" | "triple";
  value: string;
  datatype?: string;
  "xml:lang"?: string;
}

/** What a column has; a variable that is not bound is missing. */
export type Row = Record<string, Term>;

export interface Results {
  head: { vars?: string[] };
  results?: { bindings: Row[] };
  boolean?: boolean;
}

export const XSD = "http://www.w3.org/2001/XMLSchema#";
export const SOSA = "http://www.w3.org/ns/sosa/";
export const GW = "https://sosa-gateway.example/ns#";
export const UNIT = "http://qudt.org/vocab/unit/";
export const PROPERTY = "https://sosa-gateway.example/property/";

/** Prefixes that every query of the page begins with. */
export const PREFIXES: Record<string, string> = {
  sosa: SOSA,
  gw: GW,
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  xsd: XSD,
  qudt: "http://qudt.org/schema/qudt/",
  unit: UNIT,
  property: PROPERTY,
  graph: "https://sosa-gateway.example/graph/",
};

/** PREFIX lines for those that a text uses. */
export function prologue(text: string): string {
  return Object.entries(PREFIXES)
    .filter(([name]) => new RegExp(`(^|[^\\w:])${name}:`).test(text))
    .map(([name, iri]) => `PREFIX ${name}: <${iri}>\n`)
    .join("");
}

const NUMERIC = new Set(
  ["integer", "decimal", "double", "float", "int", "long", "short", "nonNegativeInteger"].map((name) => XSD + name),
);

export function isNumeric(term: Term | undefined): boolean {
  return term?.datatype !== undefined && NUMERIC.has(term.datatype);
}

export function isBoolean(term: Term | undefined): boolean {
  return term?.datatype === `${XSD}boolean`;
}

/** xsd:dateTime as ms since the Unix epoch; NaN for what is none. */
export function time(term: Term | undefined): number {
  return term ? Date.parse(term.value) : Number.NaN;
}

const SEPARATORS = "/#:";

/** The last part of an IRI, decoded where that can be: what it is called where nobody says. */
export function localName(iri: string): string {
  let end = iri.length;
  while (end > 0 && SEPARATORS.includes(iri.charAt(end - 1))) end -= 1;
  let start = end;
  while (start > 0 && !SEPARATORS.includes(iri.charAt(start - 1))) start -= 1;
  const name = start < end ? iri.slice(start, end) : iri;
  if (!name.includes("%")) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A term as SPARQL writes it. */
export function written(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = JSON.stringify(term.value);
  if (term["xml:lang"]) return `${text}@${term["xml:lang"]}`;
  if (term.datatype && term.datatype !== `${XSD}string`) return `${text}^^<${term.datatype}>`;
  return text;
}

/** The same text for the same row, whatever the order of its columns. */
export function rowKey(row: Row): string {
  return Object.keys(row)
    .sort()
    .map((name) => `${name} ${written(row[name] as Term)}`)
    .join("\n");
}
