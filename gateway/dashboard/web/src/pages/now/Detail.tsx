/** One stream: its value, its history, the messages that it came in, and what looks at it. */

import "./detail.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { Age, Empty, Problem, Told } from "../../parts";
import { ask } from "../../protocol/sparql";
import { isNumeric, prologue } from "../../protocol/terms";
import { now } from "../../state/clock";
import { unit, value } from "../../state/format";
import { useLoad } from "../../state/load";
import { called, calledProperty, isThere, type Stream, streamKey, streams, structure } from "../../state/streams";
import { texts } from "../../texts";
import { Chart } from "./Chart";
import { Doubts } from "./Doubts";
import { Mapping, Messages, Questions, useWhy } from "./Facts";
import { everyFor, gapMs, markOf, MARKS, type Point } from "./history";
import { askHref, promiseQuery, whyHref } from "./links";
import { useHistory } from "./useHistory";

const HOUR_MS = 3_600_000;
const RANGES: Record<string, number> = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 168 * HOUR_MS, all: 0 };
const COARSE_S = 3600;
const SHORTEST_MS = 2_000;

interface DetailProps {
  path: readonly string[];
  /** Where the list is: back leads there. */
  back: string;
}

export function Detail({ path, back }: DetailProps) {
  const [sensor = "", property = "", place = ""] = path;
  structure.value;
  const stream = streams.get(streamKey(sensor, property, place));
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), [stream?.key]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || (event.target as HTMLElement).closest("input, textarea")) return;
      window.location.hash = back;
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [back]);
  return (
    <aside class="detail" ref={panel} tabIndex={-1} aria-labelledby="stream-title">
      <header>
        <div class="titles">
          <h2 id="stream-title">
            <Told>{calledProperty(property)}</Told>
          </h2>
          <p class="quiet">
            <Told>{called(place)}</Told>
            {sensor !== place && " · "}
            {sensor !== place && <Told>{called(sensor)}</Told>}
          </p>
        </div>
        <a class="close" href={back} aria-label={texts.now.back}>
          <span class="wide" aria-hidden="true">×</span>
          <span class="narrow" aria-hidden="true">‹ {texts.pages.now}</span>
        </a>
      </header>
      {stream ? <Known stream={stream} /> : isThere.value && <Empty>{texts.now.gone}</Empty>}
    </aside>
  );
}

function Known({ stream }: { stream: Stream }) {
  const reading = stream.latest.value;
  const why = useWhy(stream);
  return (
    <>
      <p class={stream.absence.value ? "latest absent" : "latest"}>
        <bdi class="told">{value(reading.value, stream.property)}</bdi>{" "}
        <span class="unit">{unit(reading.unit)}</span>
        <span class="quiet">
          <Age at={reading.at} />
        </span>
        <Doubts stream={stream} />
      </p>
      <p class="actions">
        <a href={whyHref(reading.observation)}>{texts.now.why}</a>
        <a href={askHref(stream)}>{texts.now.ask}</a>
      </p>
      <History key={stream.key} stream={stream} />
      <Mapping why={why} />
      <Questions property={stream.property} />
      <Messages topic={why.value?.topic} />
    </>
  );
}

/** What is shown: a range that ends now, or what was zoomed to. */
interface View {
  range: string;
  /** When the range was chosen, ms. */
  at: number;
  zoom: { from: number; to: number } | null;
}

function History({ stream }: { stream: Stream }) {
  const [view, setView] = useState<View>(() => ({ range: usual(stream), at: Date.now(), zoom: null }));
  const [width, setWidth] = useState(0);
  // Of the range "all": when the journal begins, asked for coarsely first.
  const [first, setFirst] = useState<number | null>(null);
  const isStates = !isNumeric(stream.latest.value.value);
  const { zoom } = view;
  const begin = view.range === "all" ? (first ?? 0) : view.at - (RANGES[view.range] ?? 0);
  const spanMs = zoom ? zoom.to - zoom.from : view.at - begin;
  const isCoarse = !zoom && begin === 0;
  const everyS = width === 0 ? -1 : isStates ? 0 : isCoarse ? COARSE_S : everyFor(spanMs, width);
  const past = useHistory(stream, { from: zoom?.from ?? begin, to: zoom?.to ?? null, everyS });
  useEffect(() => {
    if (isCoarse && past.isAll) setFirst(past.points[0]?.t ?? view.at - HOUR_MS);
  }, [isCoarse, past.isAll]);
  const to = zoom?.to ?? now.value;
  const range = RANGES[view.range];
  const from = zoom?.from ?? (range ? to - range : (past.points[0]?.t ?? to - HOUR_MS));
  return (
    <section class="history">
      <Ranges view={view} setView={setView} />
      <Problem text={past.problem} again={past.again} />
      <Chart
        points={past.points}
        from={from}
        to={Math.max(to, from + SHORTEST_MS)}
        gap={gapMs(past.points, Math.max(everyS, 0), usePromise(stream))}
        isStates={isStates}
        property={stream.property}
        label={texts.now.chartOf(calledProperty(stream.property), past.points.length)}
        onWidth={setWidth}
        onZoom={(start, end) => setView({ ...view, zoom: { from: start, to: Math.max(end, start + SHORTEST_MS) } })}
      />
      {past.isAll && past.points.length === 0 && !past.problem && <p class="quiet">{texts.now.noHistory}</p>}
      <Legend points={past.points} />
    </section>
  );
}

/** A day, or an hour where little more is known. */
function usual(stream: Stream): string {
  const first = stream.trend.peek()[0]?.[0] ?? Date.now();
  return Date.now() - first > 2 * HOUR_MS ? "24h" : "1h";
}

function Ranges({ view, setView }: { view: View; setView(view: View): void }) {
  return (
    <div class="ranges">
      <div class="switch" role="group" aria-label={texts.now.range}>
        {Object.keys(RANGES).map((range) => (
          <button
            key={range}
            type="button"
            aria-pressed={!view.zoom && view.range === range}
            onClick={() => setView({ range, at: Date.now(), zoom: null })}
          >
            {texts.now.ranges[range]}
          </button>
        ))}
      </div>
      {view.zoom && (
        <button type="button" class="plain" onClick={() => setView({ ...view, at: Date.now(), zoom: null })}>
          {texts.now.zoomOut}
        </button>
      )}
    </div>
  );
}

function Legend({ points }: { points: readonly Point[] }) {
  const found = new Set(points.map(markOf));
  const marks = MARKS.filter((mark) => found.has(mark));
  if (marks.length === 0) return null;
  return (
    <ul class="legend small quiet">
      {marks.map((mark) => (
        <li key={mark} title={texts.now.markMeanings[mark]}>
          <i class={`mark ${mark}`} aria-hidden="true" /> {texts.now.marks[mark]}
        </li>
      ))}
    </ul>
  );
}

/** How long the device promises to be silent at most, ms; 0 where it promises nothing. */
function usePromise(stream: Stream): number {
  const text = promiseQuery(stream);
  const { value: seconds } = useLoad(text, async (signal) => {
    const told = await ask(prologue(text) + text, signal);
    return Number(told.results?.bindings[0]?.seconds?.value ?? 0);
  });
  return (seconds ?? 0) * 1000;
}
