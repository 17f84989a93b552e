/** What the line of truth and the sidebar say: alarms, what is new, how much passes. */

import { computed, signal } from "@preact/signals";
import { api } from "../protocol/http";
import { may, subscriptions } from "../protocol/session";
import { prologue } from "../protocol/terms";
import { Bag } from "../state/live";
import { passed, streams, structure } from "../state/streams";

export interface Alarm {
  kind: string;
  where: string;
  what: string;
  what_to_do: string;
  since: string;
  fault: boolean;
}

const EVERY_MS = 5_000;
const RATE_MS = 5_000;

export const alarms = signal<Alarm[]>([]);
/** Whether the gateway has said what is wrong; only who may see operations is told. */
export const isKnown = signal(false);
/** Devices that are heard and in no mapping. */
export const newDevices = signal(0);
/** Readings that this page was told of in the last seconds, a second. */
export const rate = signal(0);

export const silent = computed(() => {
  structure.value;
  let count = 0;
  for (const stream of streams.values()) if (stream.absence.value) count += 1;
  return count;
});

const OPEN = `SELECT ?proposal ?family ?device { GRAPH graph:proposals {
  ?proposal gw:proposalStatus ?status ; gw:family ?family ; gw:device ?device }
  VALUES ?status { gw:Proposed gw:Moved gw:MeansOther } }`;

async function look(): Promise<void> {
  if (document.hidden) return;
  if (may("operations")) {
    const told = await api.get<{ alarms: Alarm[] }>("/alarms").catch(() => null);
    isKnown.value = told !== null;
    if (told) alarms.value = told.alarms;
  }
}

function devicesOf(bag: Bag): number {
  const devices = [...bag.entries.values()].map(({ row }) => `${row.family?.value}\n${row.device?.value}`);
  return new Set(devices).size;
}

function followProposals(): () => void {
  if (!may("mappings")) return () => undefined;
  const bag = new Bag();
  const held = subscriptions.subscribe(prologue(OPEN) + OPEN, {
    onChange: (change) => {
      bag.take(change);
      newDevices.value = devicesOf(bag);
    },
  });
  return () => held.end();
}

/** Look every few seconds while somebody is there; returns how to stop. */
export function follow(): () => void {
  void look();
  const unfollow = followProposals();
  const looking = setInterval(() => void look(), EVERY_MS);
  let before = passed();
  const counting = setInterval(() => {
    const heard = passed();
    rate.value = Math.round(((heard - before) / RATE_MS) * 10_000) / 10;
    before = heard;
  }, RATE_MS);
  return () => {
    unfollow();
    clearInterval(looking);
    clearInterval(counting);
  };
}
