/** What `GET /metrics` says, in the Prometheus text format. */

export interface Metrics {
  /** A number by name without prefix; NaN for what is not told. */
  number(name: string, label?: string): number;
}

const LINE = /^sosa_gateway_([a-z0-9_]+)(?:\{([^}]*)\})? (\S+)/;

/** `label` is as it stands in braces: `state="shipped"`. */
export function metricsOf(text: string): Metrics {
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const parts = LINE.exec(line);
    if (parts) found.set(`${parts[1]}{${parts[2] ?? ""}}`, numberOf(parts[3] ?? ""));
  }
  return { number: (name, label = "") => found.get(`${name}{${label}}`) ?? Number.NaN };
}

function numberOf(text: string): number {
  if (/^[+]?inf/i.test(text)) return Number.POSITIVE_INFINITY;
  return Number(text);
}

export interface Disk {
  journalBytes: number;
  unshipped: number;
  shipped: number;
  hoursLeft: number;
  isFull: boolean;
  isStoreFailing: boolean;
  quarantined: number;
  quarantineBytes: number;
  isShippingFailing: boolean;
  dropped: number;
}

export function diskOf(metrics: Metrics): Disk {
  return {
    journalBytes: metrics.number("journal_bytes"),
    unshipped: metrics.number("journal_segments", 'state="unshipped"'),
    shipped: metrics.number("journal_segments", 'state="shipped"'),
    hoursLeft: metrics.number("journal_hours_left"),
    isFull: metrics.number("journal_full") === 1,
    isStoreFailing: metrics.number("store_failing") === 1,
    quarantined: metrics.number("quarantine_kept"),
    quarantineBytes: metrics.number("quarantine_bytes"),
    isShippingFailing: metrics.number("shipping_failing") === 1,
    dropped: metrics.number("journal_dropped_total"),
  };
}

const DAY_H = 24;
const MANY_DAYS = 365;

/** How long there is room, as people say it. */
export function room(hours: number, words: { hours(n: number): string; days(n: number): string; years: string }): string {
  if (!Number.isFinite(hours) || hours / DAY_H > MANY_DAYS) return words.years;
  return hours >= 2 * DAY_H ? words.days(Math.floor(hours / DAY_H)) : words.hours(Math.floor(hours));
}
