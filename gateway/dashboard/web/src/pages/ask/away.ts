/** Which gateways are away now, and since when: a notification says so only when it comes. */

import { signal } from "@preact/signals";
import { subscriptions } from "../../protocol/session";
import { type Row, time } from "../../protocol/terms";
import { answer } from "./answer";

const AWAY = `PREFIX gw: <https://sosa-gateway.example/ns#>
SELECT ?name ?since { GRAPH <https://sosa-gateway.example/graph/federation> {
  ?member gw:memberName ?name ; gw:awaySince ?since } }`;

const now = signal<ReadonlyMap<string, number>>(new Map());

/** Since when a gateway is away, as of the answer or as of now; ms, undefined for one that is not. */
export function awaySince(name: string): number | undefined {
  const told = answer.value?.federation?.stale?.[name];
  return now.value.get(name) ?? (told === undefined ? undefined : told / 1000);
}

/** Be told while somebody looks; who may not read that is told by the answers alone. */
export function follow(): () => void {
  const held = subscriptions.subscribe(AWAY, {
    onChange: ({ first, added, removed }) => {
      const after = new Map(first ? [] : now.peek());
      for (const row of removed.results?.bindings ?? []) after.delete(nameOf(row));
      for (const row of added.results?.bindings ?? []) after.set(nameOf(row), time(row.since));
      now.value = after;
    },
  });
  return () => {
    held.end();
    now.value = new Map();
  };
}

function nameOf(row: Row): string {
  return row.name?.value ?? "";
}
