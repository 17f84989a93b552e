/** The points of a stream between two times, with what comes meanwhile. */

import { useEffect, useState } from "preact/hooks";
import { isBoolean, isNumeric, type Term } from "../../protocol/terms";
import { bufferedMs, type Reading, type Stream } from "../../state/streams";
import { bucketed, merged, type Point } from "./history";
import { loadHistory } from "./past";

export interface Past {
  points: readonly Point[];
  /** Whether every page has come. */
  isAll: boolean;
  problem: string;
  again(): void;
}

interface Window {
  from: number;
  /** A time, or null for one that goes on. */
  to: number | null;
  everyS: number;
}

const PAUSE_MS = 150;

/** Ask anew when the window changes; a zoom asks once it rests. */
export function useHistory(stream: Stream | undefined, { from, to, everyS }: Window): Past {
  const [points, setPoints] = useState<readonly Point[]>([]);
  // Of which window every page has come: after a change the points are still those of the one before.
  const [whole, setWhole] = useState("");
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  const key = stream?.key;
  const asking = [key, from, to, everyS, turn].join(" ");
  useEffect(() => setPoints([]), [key]);
  useEffect(() => {
    if (!stream || everyS < 0) return undefined;
    const ends = new AbortController();
    let fresh: Point[] = [];
    let base: readonly Point[] = [];
    const unfollow = follow(stream, (reading) => {
      const point = bucketed(pointOf(reading), everyS);
      if (to !== null && point.t > to) return;
      fresh = merged(fresh, [point]);
      if (base.length > 0) setPoints(merged(base, fresh));
    });
    const load = (): void => {
      const asked = { key: stream.key, from, to: to ?? Date.now() + 60_000, everyS };
      fresh = [];
      loadHistory(
        asked,
        (all, isDone) => {
          base = all;
          setPoints(merged(base, fresh));
          if (isDone) setWhole(asking);
          setProblem("");
        },
        ends.signal,
      ).catch((error: Error) => {
        if (ends.signal.aborted) return;
        setWhole(asking);
        setProblem(error.message);
      });
    };
    const timer = setTimeout(load, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
      unfollow();
    };
  }, [asking]);
  return { points, isAll: whole === asking, problem, again: () => setTurn((before) => before + 1) };
}

/** Be told of each reading after the one that is there. */
function follow(stream: Stream, take: (reading: Reading) => void): () => void {
  let before = stream.latest.peek().observation;
  return stream.latest.subscribe((reading) => {
    if (reading.observation === before) return;
    before = reading.observation;
    take(reading);
  });
}

function pointOf(reading: Reading): Point {
  const flags = [...(reading.clockSuspect ? ["clock"] : []), ...(bufferedMs(reading) > 0 ? ["buffered"] : [])];
  return {
    t: reading.at,
    value: plain(reading.value),
    flags,
    ...(reading.unit ? { unit: reading.unit } : {}),
  };
}

export function plain(term: Term): number | boolean | string {
  if (isNumeric(term)) return Number(term.value);
  if (isBoolean(term)) return term.value === "true" || term.value === "1";
  return term.value;
}
