/** The other gateways, as `GET /federation` tells of them. */

export interface Member {
  name: string;
  /** up, away, or closed: what it sends is not read. */
  state: string;
  /** xsd:dateTime */
  since: string;
  reason: string;
  /** How old what is known of it is; null where nothing is. */
  lag_s: number | null;
  position: string | null;
  entries: number;
  replica_quads: number;
  outbox_quads: number;
  event_log_bytes: number;
  bytes_per_s: number;
  resyncs: number;
  gaps: number;
}

export interface Federation {
  gateway: string;
  position: string;
  members: Member[];
}

/** Who needs a person first, then by name. */
export function byNeed(members: readonly Member[]): Member[] {
  const rank = ({ state }: Member): number => (state === "closed" ? 0 : state === "up" ? 2 : 1);
  return [...members].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
