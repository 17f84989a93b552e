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

const MENDS: Record<string, readonly string[]> = {
  message: ["quarantine", "topic"],
  mapping: ["mapping"],
  observation: ["sensor"],
  triples: ["observation"],
  question: ["query", "subscription"],
  rule: ["rule"],
  command: ["actuator"],
};

/** Where a broken station is mended, or looked into: the first thing of it that has a page. */
export function mendLink({ kind, status, items }: Station): Link | null {
  if (status !== "broken") return null;
  const links = items.flatMap(({ link }) => (link ? [link] : []));
  return links.find((link) => MENDS[kind]?.includes(link.kind)) ?? null;
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
    case "subscription":
      return href("why", ["quiet"], { spuid: id });
    case "rule":
      return href("why", ["quiet"], { rule: id });
    case "command":
      return href("why", ["trail"], { command: id });
    case "topic":
      return href("health", ["quarantine"], { topic: id });
    case "actuator":
      return href("control", [id]);
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
