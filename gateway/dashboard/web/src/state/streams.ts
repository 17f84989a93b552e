/**
 * What every stream (sensor, property, place) said last, live.
 *
 * Three subscriptions feed it: observations, absences, labels. Each stream is a signal of its own,
 * so that a reading draws one line anew and nothing else.
 */

import { type Signal, signal } from "@preact/signals";
import { isBoolean, isNumeric, localName, prologue, type Row, SOSA, type Term, time } from "../protocol/terms";
import { subscriptions } from "../protocol/session";
import type { Change, Subscription } from "../protocol/subscription";
import { propertyName } from "./format";

export interface Reading {
  observation: string;
  value: Term;
  unit: string | undefined;
  /** When it was measured, or heard where the device does not tell; ms. */
  at: number;
  /** When it was heard; ms. */
  ingested: number;
  clockSuspect: boolean;
}

export interface Absence {
  since: number;
  /** The device said that it goes, rather than nothing. */
  isOffline: boolean;
}

export interface Stream {
  key: string;
  sensor: string;
  property: string;
  place: string;
  latest: Signal<Reading>;
  absence: Signal<Absence | null>;
  /** The last numbers, [ms, number] each, true as 1; what the page has seen and what the gateway had kept. */
  trend: Signal<readonly (readonly [number, number])[]>;
}

const LONGEST_TREND = 64;
const BUFFERED_MS = 60_000;

// Each begins with a class and has OPTIONALs of one pattern: the gateway answers such a form at once,
// without a process of its own for the first answer.
const READINGS = `SELECT ?o ?sensor ?property ?place ?value ?unit ?at ?ingested ?suspect {
  ?o a sosa:Observation ; sosa:madeBySensor ?sensor ; sosa:observedProperty ?property ;
     sosa:hasFeatureOfInterest ?place ; sosa:hasSimpleResult ?value ; sosa:resultTime ?at ; gw:ingestedAt ?ingested
  OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?unit }
  OPTIONAL { ?o gw:clockSuspect ?suspect } }`;

const ABSENCES = `SELECT ?sensor ?property ?place ?since ?reason {
  ?stream a gw:Stream ; gw:absentSince ?since ; gw:absenceReason ?reason ;
          gw:ofSensor ?sensor ; gw:ofProperty ?property ; gw:ofFeature ?place }`;

const LABELS = "SELECT ?thing ?label { ?thing rdfs:label ?label }";

/** All streams by key; the map is the same object always, `structure` counts its changes. */
export const streams = new Map<string, Stream>();
export const structure = signal(0);
/** What things are called, by IRI; `labelled` counts its changes. */
const labels = new Map<string, string>();
export const labelled = signal(0);
/** Whether the first answer has come. */
export const isThere = signal(false);
export const problem = signal("");

export function streamKey(sensor: string, property: string, place: string): string {
  return `${sensor}\n${property}\n${place}`;
}

/** What a thing is called: its label, or the end of its IRI. */
export function called(iri: string): string {
  labelled.value;
  return labels.get(iri) ?? localName(iri).replace(/_/g, " ");
}

/** What a property is called here. */
export function calledProperty(iri: string): string {
  labelled.value;
  return labels.get(iri) ?? propertyName(iri);
}

/** How long before it was heard a value was measured, where that is longer than a message takes. */
export function bufferedMs(reading: Reading): number {
  const late = reading.ingested - reading.at;
  return late > BUFFERED_MS ? late : 0;
}

function text(row: Row, name: string): string {
  return row[name]?.value ?? "";
}

function keyOf(row: Row): string {
  return streamKey(text(row, "sensor"), text(row, "property"), text(row, "place"));
}

function reading(row: Row): Reading {
  const { value, suspect } = row;
  return {
    observation: text(row, "o"),
    value: value ?? { type: "literal", value: "" },
    unit: row.unit?.value,
    at: time(row.at),
    ingested: time(row.ingested),
    clockSuspect: suspect?.value === "true",
  };
}

/** Observations of a stream that are in the store, by IRI: more than one where it keeps more. */
const kept = new Map<string, Map<string, Reading>>();

function newest(readings: Iterable<Reading>): Reading | undefined {
  let last: Reading | undefined;
  for (const each of readings) if (!last || each.at >= last.at) last = each;
  return last;
}

function takeReadings(change: Change): void {
  const touched = new Map<string, Row>();
  if (change.first) {
    for (const [key, readings] of kept) {
      readings.clear();
      touched.set(key, {});
    }
  }
  for (const row of change.removed.results?.bindings ?? []) {
    const key = keyOf(row);
    // A row that goes because a later part of it came (its unit, a suspicion) is added again below.
    kept.get(key)?.delete(text(row, "o"));
    touched.set(key, row);
  }
  const added = change.added.results?.bindings ?? [];
  if (!change.first) heard += added.length;
  for (const row of added) {
    const key = keyOf(row);
    let readings = kept.get(key);
    if (!readings) {
      readings = new Map();
      kept.set(key, readings);
    }
    readings.set(text(row, "o"), reading(row));
    touched.set(key, row);
  }
  let isChanged = false;
  for (const [key, row] of touched) isChanged = show(key, row) || isChanged;
  if (isChanged || !isThere.peek()) structure.value += 1;
  isThere.value = true;
}

/** Whether a stream came or went. */
function show(key: string, row: Row): boolean {
  const last = newest(kept.get(key)?.values() ?? []);
  const stream = streams.get(key);
  if (!last) {
    kept.delete(key);
    return streams.delete(key);
  }
  if (stream) {
    const isNew = stream.latest.peek().observation !== last.observation;
    stream.latest.value = last;
    if (isNew) stream.trend.value = extended(stream.trend.peek(), last);
    return false;
  }
  streams.set(key, {
    key,
    sensor: text(row, "sensor"),
    property: text(row, "property"),
    place: text(row, "place"),
    latest: signal(last),
    absence: signal(absences.get(key) ?? null),
    trend: signal(extended([], last)),
  });
  return true;
}

function extended(trend: Stream["trend"]["value"], last: Reading): Stream["trend"]["value"] {
  const number = asNumber(last.value);
  if (number === null) return trend;
  const before = trend[trend.length - 1];
  if (before && before[0] >= last.at) return trend;
  return [...trend.slice(1 - LONGEST_TREND), [last.at, number] as const];
}

/** True is 1, false 0; null for what is no number. */
function asNumber(value: Term): number | null {
  if (isBoolean(value)) return value.value === "true" || value.value === "1" ? 1 : 0;
  const number = isNumeric(value) ? Number(value.value) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** Numbers from before the page was opened, as the gateway kept them. */
export function takeTrend(key: string, points: readonly (readonly [number, number])[]): void {
  const stream = streams.get(key);
  if (!stream) return;
  const own = stream.trend.peek();
  const first = own[0]?.[0] ?? Number.POSITIVE_INFINITY;
  stream.trend.value = [...points.filter(([at]) => at < first), ...own].slice(-LONGEST_TREND);
}

const absences = new Map<string, Absence>();

function takeAbsences(change: Change): void {
  const touched = new Set(change.first ? absences.keys() : []);
  if (change.first) absences.clear();
  for (const row of change.removed.results?.bindings ?? []) {
    absences.delete(keyOf(row));
    touched.add(keyOf(row));
  }
  for (const row of change.added.results?.bindings ?? []) {
    absences.set(keyOf(row), { since: time(row.since), isOffline: text(row, "reason").endsWith("Offline") });
    touched.add(keyOf(row));
  }
  for (const key of touched) {
    const stream = streams.get(key);
    if (stream) stream.absence.value = absences.get(key) ?? null;
  }
  if (touched.size > 0) structure.value += 1;
}

function takeLabels(change: Change): void {
  if (change.first) labels.clear();
  for (const row of change.removed.results?.bindings ?? []) labels.delete(text(row, "thing"));
  for (const row of change.added.results?.bindings ?? []) labels.set(text(row, "thing"), text(row, "label"));
  labelled.value += 1;
}

let heard = 0;

/** How many readings the page was told of, beside those that were there. */
export function passed(): number {
  return heard;
}

let held: Subscription[] = [];

/** Subscribe, once; `stop` ends it. */
export function watch(): void {
  if (held.length > 0) return;
  const told = (query: string, onChange: (change: Change) => void, onError?: (message: string) => void): void => {
    held.push(subscriptions.subscribe(prologue(query) + query, { onChange, ...(onError ? { onError } : {}) }));
  };
  // Names first: nothing is called anew a moment after it was drawn. They are missed, and nothing
  // else, where labels may not be read.
  told(LABELS, takeLabels);
  told(READINGS, takeReadings, (message) => {
    problem.value = message;
  });
  told(ABSENCES, takeAbsences);
}

export function stop(): void {
  for (const each of held) each.end();
  held = [];
  streams.clear();
  kept.clear();
  absences.clear();
  labels.clear();
  isThere.value = false;
  problem.value = "";
  structure.value += 1;
}

/** The places that are known, by name. */
export function places(): { iri: string; name: string }[] {
  structure.value;
  const all = new Set<string>();
  for (const { place, sensor } of streams.values()) if (place !== sensor) all.add(place);
  return [...all].map((iri) => ({ iri, name: called(iri) })).sort((a, b) => a.name.localeCompare(b.name));
}

export const SENSOR = `${SOSA}Sensor`;
