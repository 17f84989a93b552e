/** Commands and what became of them: the graph of actuations, and the answers to our own. */

import { type Row, type Term, time } from "../../protocol/terms";
import { isBoolean, isNumeric, localName } from "../../protocol/terms";
import type { Wanted } from "./actuators";

export type Status = "requested" | "sent" | "confirmed" | "failed" | "superseded";

export interface Command {
  /** The actuation's IRI, or the end of it where an answer of HTTP told it. */
  id: string;
  actuator: string;
  value: Wanted;
  status: Status;
  /** ms; NaN for not yet. */
  requestedAt: number;
  sentAt: number;
  endedAt: number;
  reason: string;
  observation: string;
  /** Whether this page asked for it. */
  isOwn: boolean;
}

/** `POST /actuators/{name}/command` and `GET /actuations/{id}`. */
export interface Told {
  id: string;
  status: Status;
  actuator?: string;
  value?: Wanted;
  requestedAt?: string;
  sentAt?: string;
  endedAt?: string;
  reason?: string;
  observation?: string;
}

export const ACTUATIONS = `SELECT ?actuation ?actuator ?value ?status ?requestedAt ?sentAt ?endedAt ?reason ?observation {
  GRAPH graph:actuations { ?actuation gw:status ?status
    OPTIONAL { ?actuation sosa:madeByActuator ?actuator } OPTIONAL { ?actuation sosa:hasSimpleResult ?value }
    OPTIONAL { ?actuation gw:requestedAt ?requestedAt } OPTIONAL { ?actuation gw:sentAt ?sentAt }
    OPTIONAL { ?actuation gw:endedAt ?endedAt } OPTIONAL { ?actuation gw:failureReason ?reason }
    OPTIONAL { ?actuation sosa:relatedObservation ?observation } } }`;

export function commandOf(row: Row): Command {
  return {
    id: row.actuation?.value ?? "",
    actuator: row.actuator?.value ?? "",
    value: row.value ? plain(row.value) : "",
    status: localName(row.status?.value ?? "").toLowerCase() as Status,
    requestedAt: time(row.requestedAt),
    sentAt: time(row.sentAt),
    endedAt: time(row.endedAt),
    reason: row.reason?.value ?? "",
    observation: row.observation?.value ?? "",
    isOwn: false,
  };
}

export function commandTold(told: Told, actuator: string, value: Wanted, asked: number): Command {
  const at = (text: string | undefined): number => (text ? Date.parse(text) : Number.NaN);
  return {
    id: told.id,
    actuator: told.actuator ?? actuator,
    value: told.value ?? value,
    status: told.status,
    requestedAt: told.requestedAt ? at(told.requestedAt) : asked,
    sentAt: at(told.sentAt),
    endedAt: at(told.endedAt),
    reason: told.reason ?? "",
    observation: told.observation ?? "",
    isOwn: true,
  };
}

function plain(term: Term): Wanted {
  if (isBoolean(term)) return term.value === "true" || term.value === "1";
  return isNumeric(term) ? Number(term.value) : term.value;
}

const RANK: Record<Status, number> = { requested: 0, sent: 1, confirmed: 2, failed: 2, superseded: 2 };

export function hasEnded(command: Command): boolean {
  return RANK[command.status] === 2;
}

/** Of each actuator, the last first; what the graph and the answers say of one command is one. */
export function byActuator(rows: readonly Row[], own: readonly Command[]): Map<string, Command[]> {
  const all = rows.map(commandOf);
  for (const mine of own) {
    const same = all.find(({ id }) => id === mine.id || id.endsWith(`/${mine.id}`));
    if (!same) all.push(mine);
    else {
      // The answer to who asked may be there before the notification, and after.
      if (RANK[mine.status] > RANK[same.status]) Object.assign(same, { ...mine, id: same.id });
      same.isOwn = true;
    }
  }
  const found = new Map<string, Command[]>();
  for (const command of all) {
    const list = found.get(command.actuator);
    if (list) list.push(command);
    else found.set(command.actuator, [command]);
  }
  for (const list of found.values()) list.sort((a, b) => newer(b) - newer(a));
  return found;
}

function newer(command: Command): number {
  return command.requestedAt || command.sentAt || command.endedAt || Number.POSITIVE_INFINITY;
}

/** How long it took until it ended, s; NaN while it goes on. */
export function tookS(command: Command): number {
  return (command.endedAt - (command.requestedAt || command.sentAt)) / 1000;
}

/** 0.16 s, 12 s */
export function seconds(count: number): string {
  return Number.isFinite(count) ? `${count < 10 ? Math.max(count, 0).toFixed(2) : Math.round(count)} s` : "";
}
