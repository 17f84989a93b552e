/** What the line of truth and the sidebar say: alarms, what is new, how much passes. */

import { computed, signal } from "@preact/signals";
import { api } from "../protocol/http";
import { may } from "../protocol/session";
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

interface Proposals {
  proposals: { device: string; family: string; status: string }[];
}

async function look(): Promise<void> {
  if (document.hidden) return;
  if (may("operations")) {
    const told = await api.get<{ alarms: Alarm[] }>("/alarms").catch(() => null);
    if (told) alarms.value = told.alarms;
  }
  if (may("mappings")) {
    const told = await api.get<Proposals>("/mappings/proposals").catch(() => null);
    const open = told?.proposals.filter(({ status }) => status === "proposed" || status === "changed");
    if (open) newDevices.value = new Set(open.map(({ family, device }) => `${family}\n${device}`)).size;
  }
}

/** Look every few seconds while somebody is there; returns how to stop. */
export function follow(): () => void {
  void look();
  const looking = setInterval(() => void look(), EVERY_MS);
  let before = passed();
  const counting = setInterval(() => {
    const heard = passed();
    rate.value = Math.round(((heard - before) / RATE_MS) * 10_000) / 10;
    before = heard;
  }, RATE_MS);
  return () => {
    clearInterval(looking);
    clearInterval(counting);
  };
}
