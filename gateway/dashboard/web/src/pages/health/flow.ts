/** What passes, once a second: `GET /flow`. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { listen } from "../../protocol/events";

export interface Stage {
  name: string;
  /** Since the start; a second over the last one and the last ten; how many wait. */
  count: number;
  rate: number;
  rate_10s: number;
  waiting: number;
}

export interface Flow {
  /** ms */
  t: number;
  stages: Stage[];
  latency_ms: { p50: number | null; p99: number | null };
  alarms: number;
  proposals: number;
  unknown: number;
}

const SILENCE_MS = 5_000;
const MINUTE = 60;

type Trend = readonly (readonly [number, number])[];

export const flow = signal<Flow | null>(null);
export const flowProblem = signal("");
/** Rates of the last minute, by stage. */
export const trends = signal<ReadonlyMap<string, Trend>>(new Map());

/** The rates with those of one more second. */
export function extended(before: ReadonlyMap<string, Trend>, told: Flow): Map<string, Trend> {
  return new Map(
    told.stages.map(({ name, rate }) => [name, [...(before.get(name) ?? []).slice(1 - MINUTE), [told.t, rate] as const]]),
  );
}

/** Listen for as long as a component is shown. */
export function useFlow(): void {
  useEffect(() => {
    trends.value = new Map();
    return listen<Flow>(
      "/flow",
      {
        onEvent: (told) => {
          flow.value = told;
          trends.value = extended(trends.peek(), told);
        },
        onProblem: (text) => {
          flowProblem.value = text;
        },
      },
      SILENCE_MS,
    );
  }, []);
}
