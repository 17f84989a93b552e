/** Triples as the gateway tells them (N-Quads), shortened for people. */

import { localName, PREFIXES, type Term } from "../../protocol/terms";

export interface Triple {
  subject: string;
  predicate: string;
  object: string;
}

const LINE = /^(<[^>]*>|_:\S+) (<[^>]*>) ((?:<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?))(?: (?:<[^>]*>|_:\S+))? \.$/s;

/** The terms of a line as it writes them; null for what is none. */
export function parsed(line: string): Triple | null {
  const found = LINE.exec(line);
  if (!found) return null;
  return { subject: found[1] ?? "", predicate: found[2] ?? "", object: found[3] ?? "" };
}

/** `sosa:observes`, the end of another IRI, a literal without its datatype. */
export function shortened(term: string): string {
  if (term.startsWith("<")) {
    const iri = term.slice(1, -1);
    for (const [name, start] of Object.entries(PREFIXES)) {
      const rest = iri.startsWith(start) ? iri.slice(start.length) : "";
      if (/^[\w.-]+$/.test(rest)) return rest === "type" && name === "rdf" ? "a" : `${name}:${rest}`;
    }
    const path = iri.split("/");
    return path.length > 4 ? `…/${path.slice(-2).map(localName).join("/")}` : localName(iri);
  }
  return /^"((?:[^"\\]|\\.)*)"/s.exec(term)?.[1]?.replace(/\\(.)/g, "$1") ?? term;
}

/** By subject, in the order that they come. */
export function bySubject(lines: string[]): [string, Triple[]][] {
  const groups = new Map<string, Triple[]>();
  for (const line of lines) {
    const triple = parsed(line);
    if (!triple) continue;
    const group = groups.get(triple.subject);
    if (group) group.push(triple);
    else groups.set(triple.subject, [triple]);
  }
  return [...groups];
}

const TRIED = /^(.*\/(?:observation|message)\/)0-(\d+)(.*)$/;

/**
 * The IRI in the store of a node that a trial made: its `0-1` is the first observation that the
 * message gave when it came, its `0-2` the next. Null where that cannot be known.
 */
export function inStore(tried: string, first: string | null): string | null {
  const found = TRIED.exec(tried);
  if (!found) return tried;
  const real = first && /^(.*\/)(\d+)-(\d+)$/.exec(first);
  if (!real || !found[1]?.endsWith("/observation/")) return null;
  return `${real[1]}${real[2]}-${Number(real[3]) + Number(found[2]) - 1}${found[3]}`;
}

/** The same for a term as N-Triples write it. */
export function termInStore(term: string, first: string | null): string | null {
  if (!term.startsWith("<")) return term;
  const iri = inStore(term.slice(1, -1), first);
  return iri && `<${iri}>`;
}

/** A literal of a trial as a term. */
export function literal(value: string, datatype: string): Term {
  return { type: "literal", value, datatype };
}
