/** The sentence with blanks as SPARQL: `build` writes what a person who knows it would. */

import { localName, PREFIXES, PROPERTY, UNIT } from "../../protocol/terms";
import { allTheTime, type Over, windowName } from "./lasting";
import { alike, converted, step } from "./units";

export const KINDS = ["above", "below", "true", "false", "silent", "top", "bottom"] as const;
export type Kind = (typeof KINDS)[number];

/** What a person has chosen. IRIs; "" for anything, any place, no unit. */
export interface Question {
  kind: Kind;
  property: string;
  place: string;
  /** A decimal number, for above and below. */
  limit: string;
  unit: string;
  /** Rows of top and bottom. */
  count: number;
  /** For silent; 0 is longer than the device promises. */
  minutes: number;
  people: "" | "nobody" | "somebody";
  /** For above, below, true and false. */
  over: Over;
  /** Minutes of `over`. */
  span: number;
}

/** How long a kind of question can be about. */
export function oversOf(kind: Kind): Over[] {
  if (kind === "above" || kind === "below") return ["", "for", "mean"];
  return kind === "true" || kind === "false" ? ["", "for"] : [""];
}

/** What is known of the store when the text is written. */
export interface Ground {
  /** Properties that tell whether somebody is there. */
  presence: string[];
  /** Whether the property's observations have units. */
  hasUnits: boolean;
  /** Whether the store keeps more than the last observation of a stream. */
  keepsMore: boolean;
}

/** What a person reads above the text, as a comment. */
export interface Names {
  sentence: string;
}

const UNSAFE = /[<>"{}|^`\\\s]/g;
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** An IRI as SPARQL writes it, short where a prefix of the page has it. */
export function term(iri: string): string {
  for (const [name, base] of Object.entries(PREFIXES)) {
    if (iri.startsWith(base) && PLAIN.test(iri.slice(base.length))) return `${name}:${iri.slice(base.length)}`;
  }
  return `<${iri.replace(UNSAFE, (found) => encodeURIComponent(found))}>`;
}

const TAKEN = new Set(["place", "unit", "sensor", "observation", "limit", "factor", "offset", "heard", "property"]);

/** What the column of a property's values is called. */
export function column(property: string): string {
  const name = localName(property).replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9])/, "_");
  return !name || TAKEN.has(name) ? "value" : name;
}

/** A number as SPARQL writes it; null for what is none. */
export function decimal(text: string): string | null {
  const found = /^\s*([+-]?)(\d+(?:[.,]\d+)?|[.,]\d+)\s*$/.exec(text);
  if (!found?.[2]) return null;
  const number = found[2].replace(",", ".").replace(/^\./, "0.");
  return found[1] === "-" ? `-${number}` : number;
}

/** What is missing in the sentence before it can be asked: the member that is. */
export function lacking(question: Question): keyof Question | null {
  const { kind, property, limit, count } = question;
  if (property === "" && kind !== "silent") return "property";
  if ((kind === "above" || kind === "below") && decimal(limit) === null) return "limit";
  if ((kind === "top" || kind === "bottom") && !(Number.isInteger(count) && count > 0 && count <= 1000)) return "count";
  return null;
}

/** Readable SPARQL, with its PREFIX lines. `lacking` must be null. */
export function build(question: Question, ground: Ground, names: Names): string {
  const body = bodyOf(question, ground);
  const parts = [...body.where, ...presence(question, ground)];
  const text = [
    `# ${names.sentence.replace(/[\r\n]+/g, " ")}`,
    `SELECT ${body.isDistinct ? "DISTINCT " : ""}${body.columns.map((name) => (name.startsWith("(") ? name : `?${name}`)).join(" ")} WHERE {`,
    ...parts.map((line) => `  ${line}`),
    `}${body.after}`,
  ].join("\n");
  return prologueOf(text) + text;
}

function prologueOf(text: string): string {
  return Object.entries(PREFIXES)
    .filter(([name]) => new RegExp(`(^|[\\s(^/])${name}:`, "m").test(text.replace(/^#.*$/gm, "").replace(/<[^>]*>/g, "")))
    .map(([name, iri]) => `PREFIX ${name}: <${iri}>\n`)
    .join("");
}

interface Body {
  /** Names, or expressions in parentheses. */
  columns: string[];
  isDistinct?: boolean;
  where: string[];
  after: string;
}

function bodyOf(question: Question, ground: Ground): Body {
  if (question.kind === "silent") return silent(question);
  if (question.over === "mean") return averaged(question, ground);
  const body = measured(question, ground);
  if (question.over !== "for") return body;
  return { ...body, isDistinct: true, where: [...body.where, ...allTheTime(question.span, otherwise(question, ground))] };
}

/** What makes a reading one that ends "all the time". */
function otherwise(question: Question, ground: Ground): string {
  if (question.kind === "true") return "?told = false";
  if (question.kind === "false") return "?told = true";
  return `!(?told ${sign(question)} ${limitOf(question, ground)})`;
}

function sign({ kind }: Question): string {
  return kind === "above" ? ">" : "<";
}

/** What a value is compared with: a number, or the variable that has it for each unit. */
function limitOf({ limit, unit }: Question, { hasUnits }: Ground): string {
  return hasUnits && alike(unit).length > 1 ? "?limit" : (decimal(limit) ?? "0");
}

/** The mean of each stream over the window, and which means are looked for. */
function averaged(question: Question, ground: Ground): Body {
  const name = column(question.property);
  const { hasUnits } = ground;
  const where = [
    `# every reading of the last ${question.span} min`,
    `GRAPH <${windowName(question.span)}> {`,
    "  ?observation sosa:hasFeatureOfInterest ?place ;",
    "    sosa:madeBySensor ?sensor ;",
    `    sosa:hasSimpleResult ?${name}${hasUnits ? " ;" : " ."}`,
    ...(hasUnits ? ["    sosa:hasResult/qudt:hasUnit ?unit ."] : []),
    "}",
    ...units(question, ground),
  ];
  const limit = limitOf(question, ground);
  const by = ["place", "sensor", ...(hasUnits ? ["unit"] : []), ...(limit === "?limit" ? ["limit"] : [])];
  return {
    columns: ["place", `(AVG(?${name}) AS ?mean)`, ...(hasUnits ? ["unit"] : []), "sensor"],
    where,
    after: `\nGROUP BY ${by.map((each) => `?${each}`).join(" ")}\nHAVING(AVG(?${name}) ${sign(question)} ${limit})`,
  };
}

/** Which units are compared, and with which limit each. */
function units({ limit, unit }: Question, { hasUnits }: Ground): string[] {
  if (!hasUnits) return [];
  const number = decimal(limit) ?? "0";
  const limits = alike(unit).map((each) => `(${term(each)} ${converted(number, unit, each)})`);
  if (limits.length === 1) return [`FILTER(?unit = ${term(unit)})`];
  return ["# the same limit in each unit that it may be told in", `VALUES (?unit ?limit) { ${limits.join(" ")} }`];
}

function measured(question: Question, ground: Ground): Body {
  const { kind, property, place } = question;
  const name = column(property);
  const isTruth = kind === "true" || kind === "false";
  const hasUnits = ground.hasUnits && !isTruth;
  const where = [
    `?observation sosa:observedProperty ${term(property)} ;`,
    "  sosa:hasFeatureOfInterest ?place ;",
    "  sosa:madeBySensor ?sensor ;",
    isTruth ? `  sosa:hasSimpleResult ${kind} .` : `  sosa:hasSimpleResult ?${name}${hasUnits ? " ;" : " ."}`,
  ];
  if (hasUnits) where.push("  sosa:hasResult/qudt:hasUnit ?unit .");
  if (place) where.push(`VALUES ?place { ${term(place)} }`);
  if (ground.keepsMore) where.push("# the newest of each stream", ...newest("observation", term(property)));
  if (isTruth) return { columns: ["place", "sensor"], where, after: "" };
  const columns = ["place", name, ...(hasUnits ? ["unit"] : []), "sensor"];
  if (kind === "above" || kind === "below") {
    return { columns, where: [...where, ...compared(question, name, ground)], after: "" };
  }
  const [ordered, by] = ranked(question, name, hasUnits);
  const direction = kind === "top" ? `DESC(${by})` : by;
  return { columns, where: [...where, ...ordered], after: `\nORDER BY ${direction} ?place LIMIT ${question.count}` };
}

function compared(question: Question, name: string, ground: Ground): string[] {
  const limit = limitOf(question, ground);
  const is = `?${name} ${sign(question)} ${limit}`;
  if (!ground.hasUnits) return [`FILTER(${is})`];
  if (limit !== "?limit") return [`FILTER(?unit = ${term(question.unit)} && ${is})`];
  return [...units(question, ground), `FILTER(${is})`];
}

/** What makes values of several units comparable, and by what to order. */
function ranked({ unit }: Question, name: string, hasUnits: boolean): [string[], string] {
  if (!hasUnits) return [[], `?${name}`];
  const units = alike(unit);
  if (units.length === 1) return [[`FILTER(?unit = ${term(unit)})`], `?${name}`];
  const rows = units.map((each) => {
    const zero = converted("0", each, unit);
    return `(${term(each)} ${step(each, unit)} ${zero})`;
  });
  return [
    [
      `# in ${localName(unit)}, whatever unit it is told in`,
      `VALUES (?unit ?factor ?offset) { ${rows.join(" ")} }`,
      `BIND(?${name} * ?factor + ?offset AS ?compared)`,
    ],
    "?compared",
  ];
}

function newest(name: string, property: string): string[] {
  return [
    `?${name} sosa:madeBySensor ?${name}Sensor ; sosa:resultTime ?${name}Time .`,
    "FILTER NOT EXISTS {",
    `  ?${name}Newer sosa:madeBySensor ?${name}Sensor ; sosa:observedProperty ${property} ;`,
    `    sosa:hasFeatureOfInterest ?place ; sosa:resultTime ?${name}Then .`,
    `  FILTER(?${name}Then > ?${name}Time)`,
    "}",
  ];
}

function silent({ property, place, minutes }: Question): Body {
  const given = [
    ...(property ? [`VALUES ?property { ${term(property)} }`] : []),
    ...(place ? [`VALUES ?place { ${term(place)} }`] : []),
  ];
  if (minutes === 0) {
    const where = [
      "?stream gw:absentSince ?since ;",
      "  gw:ofFeature ?place ;",
      "  gw:ofProperty ?property ;",
      "  gw:ofSensor ?sensor .",
    ];
    return { columns: ["place", "property", "since", "sensor"], where: [...where, ...given], after: "" };
  }
  const where = [
    "?observation gw:ingestedAt ?heard ;",
    "  sosa:hasFeatureOfInterest ?place ;",
    "  sosa:observedProperty ?property ;",
    "  sosa:madeBySensor ?sensor .",
    ...given,
    `FILTER(NOW() - ?heard >= "PT${minutes}M"^^xsd:dayTimeDuration)`,
    "FILTER NOT EXISTS {",
    "  ?newer sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;",
    "    sosa:hasFeatureOfInterest ?place ; gw:ingestedAt ?again .",
    "  FILTER(?again > ?heard)",
    "}",
  ];
  return { columns: ["place", "property", "heard", "sensor"], where, after: "" };
}

/** Whether somebody is there: only where a sensor says so, and by all of them. */
function presence({ people }: Question, ground: Ground): string[] {
  if (people === "") return [];
  const told = (name: string, is: boolean): string => {
    const properties = ground.presence.map(term);
    const observed = properties.length === 1 ? (properties[0] ?? "") : `?${name}By`;
    const parts = [
      ...(properties.length === 1 ? [] : [`VALUES ${observed} { ${properties.join(" ")} }`]),
      `?${name} sosa:hasFeatureOfInterest ?place ;`,
      `  sosa:observedProperty ${observed} ;`,
      `  sosa:hasSimpleResult ${is} .`,
      ...(ground.keepsMore ? newest(name, observed) : []),
    ];
    return `{\n    ${parts.join("\n    ")}\n  }`;
  };
  if (people === "somebody") return ["# a sensor says that somebody is there", `FILTER EXISTS ${told("somebody", true)}`];
  return [
    "# a sensor says that nobody is there, and none that somebody is",
    `FILTER EXISTS ${told("nobody", false)}`,
    `FILTER NOT EXISTS ${told("somebody", true)}`,
  ];
}

/** Properties by which presence is told, in the order of trust. */
export const PRESENCE = ["occupancy", "presence", "motion"].map((name) => PROPERTY + name);

/** The unit that most streams of a property have. */
export function usual(units: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const each of units) counts.set(each, (counts.get(each) ?? 0) + 1);
  let most = "";
  for (const [each, count] of counts) if (count > (counts.get(most) ?? 0)) most = each;
  return most;
}

/** A limit that makes a fair first question; "" where there is none. */
export function suggested(property: string, unit: string): string {
  const name = property.startsWith(PROPERTY) ? property.slice(PROPERTY.length) : "";
  const [limit, of] = LIMITS[name] ?? ["", ""];
  if (!limit || !of) return "";
  return alike(UNIT + of).includes(unit) ? String(Number(Number(converted(limit, UNIT + of, unit)).toPrecision(4))) : "";
}

const LIMITS: Record<string, [string, string]> = {
  temperature: ["25", "DEG_C"],
  humidity: ["60", "PERCENT"],
  power: ["100", "W"],
  battery: ["20", "PERCENT"],
  co2: ["1000", "PPM"],
  illuminance: ["300", "LUX"],
};
