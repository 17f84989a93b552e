/** Stations of a trail: what the gateway tells of one, and where each leads on. */

import { prologue } from "../../protocol/terms";
import { href } from "../../state/address";
import { called } from "../../state/streams";

export type Status = "ok" | "broken" | "waiting";

export interface Link {
  kind: string;
  id: string;
}

export interface Item {
  name: string;
  value: string;
  link?: Link | null;
}

export interface Station {
  kind: string;
  status: Status;
  title: string;
  /** xsd:dateTime */
  time?: string;
  items: Item[];
  problem?: string;
  advice?: string;
  /** Where it is mended. */
  link?: Link | null;
  /** How much of the whole passes it, 0 to 1. */
  share?: number;
}

/** `POST /why/quiet` */
export interface Near {
  what: string;
  reason: string;
  advice: string;
  since?: string;
  link?: Link | null;
}

export interface Quiet {
  query: string;
  rows: number;
  patterns: { text: string; alone: number; joined: number }[];
  first_starved: number | null;
  near: Near[];
  /** Counts that are so many may be more. */
  most: number;
  whole: boolean;
}

interface Words {
  alone: string;
  joined: string;
  starves: string;
  rows: string;
  noRows: string;
  count(count: number, most: number): string;
}

/** The parts of a query as stations, and its rows as the last one: the first that starves is broken. */
export function partsOf(quiet: Quiet, words: Words): Station[] {
  const starved = quiet.first_starved;
  const widest = Math.max(1, ...quiet.patterns.map(({ joined }) => joined));
  const stations = quiet.patterns.map(({ text, alone, joined }, at): Station => {
    const isBroken = at === starved;
    return {
      kind: "pattern",
      status: isBroken ? "broken" : starved !== null && at > starved ? "waiting" : "ok",
      title: text,
      items: [
        { name: words.alone, value: words.count(alone, quiet.most) },
        { name: words.joined, value: words.count(joined, quiet.most) },
      ],
      share: Math.log1p(joined) / Math.log1p(widest),
      ...(isBroken ? { problem: words.starves } : {}),
    };
  });
  const rows: Station = {
    kind: "rows",
    status: quiet.rows > 0 ? "ok" : "waiting",
    title: quiet.rows > 0 ? words.rows : words.noRows,
    items: [{ name: "", value: words.count(quiet.rows, quiet.most) }],
  };
  return [...stations, rows];
}

/** Where there is more about a thing; null where there is no page of it. */
export function linkHref({ kind, id }: Link): string | null {
  switch (kind) {
    case "observation":
    case "iri":
      return href("why", ["trail"], { iri: id });
    case "mapping":
      return href("devices", ["edit"], { mapping: id });
    case "quarantine":
      return href("health", ["quarantine"], { entry: id });
    case "sensor":
    case "place":
    case "feature":
    case "property":
      return href("now", [], { find: called(id) });
    case "query":
    case "name":
      return href("why", ["quiet"], { name: id });
    case "actuator":
      return href("control", [id]);
    case "sparql":
      return href("ask", [], { query: id });
    case "term":
      return href("ask", [], { query: aboutTerm(id) });
    default:
      return null;
  }
}

/** What is said of a term, and with it. */
export function aboutTerm(iri: string): string {
  const text = `SELECT ?subject ?predicate ?object {
  { BIND(<${iri}> AS ?subject) ?subject ?predicate ?object }
  UNION { BIND(<${iri}> AS ?object) ?subject ?predicate ?object }
  UNION { BIND(<${iri}> AS ?predicate) ?subject ?predicate ?object } }`;
  return prologue(text) + text;
}
