/** What the gateway keeps of streams: short trends of all of them, and the journal of one. */

import { api } from "../../protocol/http";
import { streamKey, takeTrend } from "../../state/streams";
import { merged, type Page, type Point } from "./history";

interface Kept {
  id: string;
  sensor: string;
  property: string;
  feature: string;
  points: [number, number][];
}

interface KeptPage {
  streams: Kept[];
  next?: string | null;
}

/** As `GET /streams/{id}/history` knows streams. */
const ids = new Map<string, string>();
const PAGES = 40;
const PAGE_STREAMS = 500;

/** The trends of all streams, page by page. Raises ApiError and AwayError. */
export async function loadTrends(signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const told = await api.get<KeptPage>("/streams", { limit: PAGE_STREAMS, after }, signal);
    for (const { id, sensor, property, feature, points } of told.streams) {
      const key = streamKey(sensor, property, feature);
      ids.set(key, id);
      takeTrend(key, points);
    }
    if (!told.next) return;
    after = told.next;
  }
}

/** The id of a stream; asked for again where it is newer than the last answer. "" where there is none. */
async function idOf(key: string, signal: AbortSignal): Promise<string> {
  const id = ids.get(key);
  if (id !== undefined) return id;
  await loadTrends(signal);
  return ids.get(key) ?? "";
}

/** Most points that are drawn, whatever is asked for. */
export const MOST_POINTS = 20_000;
const PAGE_POINTS = 1_000;

export interface Asked {
  key: string;
  from: number;
  to: number;
  everyS: number;
}

/**
 * The history of a stream, newest first; `take` is told what there is so far, after each page.
 *
 * Raises ApiError and AwayError. A stream that no journal has is an empty history.
 */
export async function loadHistory(
  { key, from, to, everyS }: Asked,
  take: (points: Point[], isAll: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const id = await idOf(key, signal);
  if (id === "") {
    take([], true);
    return;
  }
  let points: Point[] = [];
  let after: string | undefined;
  do {
    const page: Page = await api.get<Page>(
      `/streams/${encodeURIComponent(id)}/history`,
      { from: Math.floor(from), to: Math.ceil(to), every: everyS || undefined, limit: PAGE_POINTS, after },
      signal,
    );
    points = merged(page.points, points);
    after = page.next ?? undefined;
    take(points, after === undefined || points.length >= MOST_POINTS);
  } while (after !== undefined && points.length < MOST_POINTS);
}
