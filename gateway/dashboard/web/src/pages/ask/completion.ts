/** What may stand where somebody types: prefixes, terms of the store, variables, queries. */

import { prologue } from "../../protocol/terms";
import { query } from "../../protocol/sparql";
import { calledProperty, called, streams } from "../../state/streams";
import { term } from "./question";
import { variables, WELL_KNOWN } from "./text";

export interface Word {
  /** What is put in. */
  text: string;
  /** What people call it. */
  name: string;
  kind: "prefix" | "property" | "class" | "sensor" | "place" | "variable" | "query" | "keyword" | "predicate";
}

export interface Offered {
  /** Where what is replaced begins. */
  from: number;
  words: Word[];
}

const MOST_TERMS = 2000;
const MOST_ASKED = 300;
const MOST_OFFERED = 100;

const KEYWORDS =
  "SELECT DISTINCT WHERE FILTER OPTIONAL UNION MINUS GRAPH BIND VALUES SERVICE EXISTS NOT ORDER BY DESC ASC LIMIT OFFSET GROUP HAVING COUNT SUM AVG MIN MAX SAMPLE ASK CONSTRUCT DESCRIBE PREFIX AS IN BOUND IF COALESCE STR LANG DATATYPE CONTAINS STRSTARTS REGEX NOW true false"
    .split(" ");

const SOSA_TERMS = [
  "sosa:Observation",
  "sosa:Sensor",
  "sosa:observes",
  "sosa:isHostedBy",
  "sosa:madeBySensor",
  "sosa:observedProperty",
  "sosa:hasFeatureOfInterest",
  "sosa:hasSimpleResult",
  "sosa:hasResult",
  "sosa:resultTime",
  "sosa:phenomenonTime",
  "gw:ingestedAt",
  "gw:absentSince",
  "gw:absenceReason",
  "gw:ofSensor",
  "gw:ofProperty",
  "gw:ofFeature",
  "qudt:hasUnit",
  "qudt:numericValue",
  "rdfs:label",
  "rdf:type",
];

/** Words for what stands before the cursor; null where nothing is to be offered. */
export function offered(text: string, at: number, terms: readonly Word[], isAsked: boolean): Offered | null {
  const before = text.slice(0, at);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/^[^"'<]*#/.test(line)) return null;
  const variable = /[?$][\p{L}\p{N}_]*$/u.exec(before)?.[0];
  if (variable !== undefined) {
    const others = variables(text.slice(0, at - variable.length) + text.slice(at));
    const words = others.map((name): Word => ({ text: `?${name}`, name: "", kind: "variable" }));
    return { from: at - variable.length, words: matching(words, variable.replace("$", "?")) };
  }
  const typed = /[\p{L}\p{N}_:.-]*$/u.exec(before)?.[0] ?? "";
  if (typed === "" && !isAsked) return null;
  return { from: at - typed.length, words: matching([...terms, ...fixed()], typed) };
}

function fixed(): Word[] {
  return [
    ...SOSA_TERMS.map((text): Word => ({ text, name: "", kind: "predicate" })),
    ...Object.keys(WELL_KNOWN).map((name): Word => ({ text: `${name}:`, name: "", kind: "prefix" })),
    ...KEYWORDS.map((text): Word => ({ text, name: "", kind: "keyword" })),
  ];
}

/** Those that begin so first, then those that have it in them; each text once. */
function matching(words: readonly Word[], typed: string): Word[] {
  const wanted = typed.toLowerCase();
  const begin: Word[] = [];
  const within: Word[] = [];
  const seen = new Set<string>();
  for (const word of words) {
    if (seen.has(word.text)) continue;
    seen.add(word.text);
    const text = word.text.toLowerCase();
    const name = word.name.toLowerCase();
    const local = text.slice(text.indexOf(":") + 1);
    if (text === wanted && word.kind !== "query") continue;
    if (text.startsWith(wanted) || name.startsWith(wanted) || local.startsWith(wanted)) begin.push(word);
    else if (wanted.length > 1 && (text.includes(wanted) || name.includes(wanted))) within.push(word);
  }
  return [...begin, ...within].slice(0, MOST_OFFERED);
}

/** Properties, sensors and places, as the page knows them already. */
function known(): Word[] {
  const found = new Map<string, Word>();
  const add = (iri: string, kind: Word["kind"], name: string): void => {
    if (found.size < MOST_TERMS && !found.has(iri)) found.set(iri, { text: term(iri), name, kind });
  };
  for (const { property } of streams.values()) add(property, "property", calledProperty(property));
  for (const { place } of streams.values()) add(place, "place", called(place));
  for (const { sensor } of streams.values()) add(sensor, "sensor", called(sensor));
  return [...found.values()];
}

const CLASSES = `SELECT DISTINCT ?term { ?thing rdf:type ?term FILTER(isIRI(?term)) } LIMIT ${MOST_ASKED}`;
const PREDICATES = `SELECT DISTINCT ?term { ?subject ?term ?object } LIMIT ${MOST_ASKED}`;

let asked: Promise<Word[]> | null = null;

/** Classes and predicates of the store, asked once; an empty list where it may not be read. */
async function fromStore(): Promise<Word[]> {
  const words = async (text: string, kind: Word["kind"]): Promise<Word[]> => {
    const rows = await query(prologue(text) + text);
    return rows.map((row) => ({ text: term(row.term?.value ?? ""), name: "", kind }));
  };
  const parts = await Promise.allSettled([words(PREDICATES, "predicate"), words(CLASSES, "class")]);
  if (parts.some(({ status }) => status === "rejected")) asked = null;
  return parts.flatMap((part) => (part.status === "fulfilled" ? part.value : []));
}

/** All terms that can be offered. */
export async function terms(): Promise<Word[]> {
  asked ??= fromStore();
  const others = await asked;
  return [...known(), ...others];
}
