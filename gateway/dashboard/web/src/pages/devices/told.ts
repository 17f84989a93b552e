/** What the gateway tells of mappings and proposals, and how it is asked (docs/mappings.md). */

import { api } from "../../protocol/http";

export type Status = "proposed" | "confirmed" | "moved" | "changed" | "rejected" | "withdrawn";

/** A mapping's members as a JSAP profile has them. */
export interface Mapping {
  id?: string;
  topic?: string;
  format?: string;
  selector?: string;
  sensor?: string;
  property?: string;
  feature?: string;
  unit?: string;
  deviceUnit?: string;
  expiresAfter?: number;
  error?: string;
  [member: string]: unknown;
}

export interface Guess {
  id: string;
  label?: string;
  mapping: Mapping;
  known: boolean;
  kind: string;
  question?: string;
}

export interface Proposal extends Guess {
  status: Status;
  family: string;
  device: string;
  label: string;
  proposedAt: string;
  command?: { values?: unknown; topic?: string };
  error?: string;
}

export interface Sample {
  receivedAt: string;
  bytes: number;
  retained: boolean;
  payload?: string;
  payloadBase64?: string;
}

export interface UnknownTopic {
  topic: string;
  count: number;
  first: string;
  last: string;
  family: string;
  guesses: Guess[];
  payloads?: Sample[];
}

export interface MappingChange {
  id: string;
  kind: string;
  at: string;
  by: string;
  nodes: string[];
  before: Mapping[];
  after: Mapping[];
  undoes?: string;
}

interface Changed {
  changed: boolean;
  change?: MappingChange | null;
  left?: { id: string; label: string; reason: string }[];
}

export interface Message {
  number: number;
  received_at: string;
  topic: string;
  retained: boolean;
  payload?: string;
  payload_base64?: string;
  observation: string | null;
}

export interface Outcome {
  matched: boolean;
  observations: Seen[];
  triples: string[];
  violations: { node: string; path: string; value: string; message: string }[] | null;
  violationsNote?: string;
  faults: { reason: string; detail: string; mapping: string | null }[];
  notices: { kind: string }[];
}

export interface Seen {
  sensor: string;
  property: string;
  feature: string;
  result: string;
  datatype: string;
  unit: string | null;
  phenomenonTime: string | null;
}

export interface Rehearsed {
  sensor: string;
  property: string;
  feature: string;
  result: string;
  unit: string | null;
}

type Row = Record<string, string>;

export interface Report {
  messages: number;
  kept: number;
  same: number;
  counts: Record<string, number>;
  observations: { topic: string; received_at: string; old: Rehearsed | null; new: Rehearsed | null; fields: string[] }[];
  faults: { topic: string; received_at: string; kind: string; reason: string; detail: string }[];
  triples: { added: string[]; removed: string[] };
  subscriptions: { query: string; error: string; added: Row[]; removed: Row[]; counts: Record<string, number> }[];
  subscriptions_skipped: string;
}

export interface Broker {
  mode: "embedded" | "external" | "mosquitto";
  host: string;
  address: string;
  local: boolean;
  port: number;
  tls: boolean;
  websocket_port: number | null;
  users: boolean;
  security: boolean;
}

export interface Edits {
  add?: Mapping[];
  replace?: Mapping[];
  remove?: string[];
}

export interface House {
  topics: UnknownTopic[];
  forgotten: number;
  proposals: Proposal[];
  mappings: Mapping[];
}

/** All that the page of devices shows, at once. */
export async function look(signal: AbortSignal): Promise<House> {
  const [unknown, proposed, mapped] = await Promise.all([
    api.get<{ topics: UnknownTopic[]; forgotten: number }>("/mappings/unknown", {}, signal),
    api.get<{ proposals: Proposal[] }>("/mappings/proposals", {}, signal),
    api.get<{ mappings: Mapping[] }>("/mappings", {}, signal),
  ]);
  return { ...unknown, ...proposed, ...mapped };
}

export const history = (signal?: AbortSignal): Promise<{ changes: MappingChange[] }> =>
  api.get("/mappings/history", {}, signal);

/** Make proposals mappings; the change, and what was left. */
export async function confirm(ids: string[], mapping: Mapping): Promise<Changed> {
  return api.post("/mappings/proposals/confirm", { ids, mapping });
}

export const reject = (ids: string[]): Promise<void> => api.post("/mappings/proposals/reject", { ids });
export const reopen = (ids: string[]): Promise<void> => api.post("/mappings/proposals/reopen", { ids });

export const apply = (edits: Edits): Promise<Changed> => api.post("/mappings/apply", edits);
export const rehearse = (edits: Edits): Promise<Report> => api.post("/mappings/rehearse", edits);

/** Take changes back, the last first. */
export async function undo(ids: string[], force = false): Promise<void> {
  for (const id of [...ids].reverse()) await api.post("/mappings/undo", { id, force });
}

export interface Given {
  topic: string;
  payload?: string;
  payloadBase64?: string;
  retained?: boolean;
}

export function tried(message: Given, mappings: Mapping[], signal?: AbortSignal): Promise<Outcome> {
  return api.post("/mappings/try", { message, mappings }, signal);
}

/** The last messages on a topic filter, newest first; needs `operations`. */
export async function messages(topic: string, limit: number, signal?: AbortSignal): Promise<Message[]> {
  return (await api.get<{ messages: Message[] }>("/messages", { topic, limit }, signal)).messages;
}

/** A kept message as it is tried. */
export function given(message: Message): Given {
  const payload = message.payload_base64
    ? { payloadBase64: message.payload_base64 }
    : { payload: message.payload ?? "" };
  return { topic: message.topic, ...payload };
}
