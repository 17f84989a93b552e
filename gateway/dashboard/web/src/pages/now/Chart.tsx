/** The chart of a stream: lines or states, zoomed by dragging or by keys; what the pointer is at, in words. */

import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Skeleton } from "../../parts";
import { short, unit, value as told, whole } from "../../state/format";
import { texts } from "../../texts";
import { XSD } from "../../protocol/terms";
import type { Over } from "./drawing";
import { columns, highest, lowest, markOf, type Point, runs, states, unitChanges } from "./history";

interface ChartProps {
  points: readonly Point[];
  /** What is shown, ms. */
  from: number;
  to: number;
  /** Nothing for longer than that is a gap, ms. */
  gap: number;
  isStates: boolean;
  property: string;
  label: string;
  onZoom(from: number, to: number): void;
  onWidth(width: number): void;
}

type Drawing = typeof import("./drawing");

export function Chart(props: ChartProps) {
  const { points, from, to, gap, isStates, property } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const over = useRef<Over>({ runs: [], changes: [], marked: [], states: [], word: String });
  const latest = useRef(props);
  latest.current = props;
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => void import("./drawing").then(setDrawing), []);
  useEffect(() => {
    const element = box.current;
    if (!element || !drawing) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = drawing.chart(element, {
        isStates,
        width: element.clientWidth,
        over: over.current,
        zoom: (start, end) => latest.current.onZoom(start, end),
        point: setAt,
      });
      show(plot.current, over.current, latest.current);
    };
    draw();
    const observer = new ResizeObserver(() => {
      latest.current.onWidth(element.clientWidth);
      const one = plot.current;
      if (one && one.width !== element.clientWidth) one.setSize({ width: element.clientWidth, height: one.height });
    });
    observer.observe(element);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [drawing, isStates]);
  useEffect(() => {
    if (plot.current) show(plot.current, over.current, latest.current);
  }, [points, from, to, gap, isStates, property]);
  return (
    <figure
      class="chart"
      tabIndex={0}
      aria-label={`${props.label}. ${texts.now.chartKeys}`}
      role="group"
      onKeyDown={(event) => press(event, props)}
    >
      {!drawing && <Skeleton lines={6} />}
      <div ref={box} aria-hidden="true" />
      <figcaption class="small quiet" aria-live="off">
        <Pointed points={points} at={at === null ? null : (plot.current?.data[0][at] ?? null)} property={property} />
      </figcaption>
    </figure>
  );
}

function show(plot: uPlot, over: Over, props: ChartProps): void {
  const { points, from, to, gap, isStates, property } = props;
  over.runs = isStates ? [] : runs(points, gap);
  over.changes = unitChanges(points);
  over.states = isStates ? states(points, gap, to) : [];
  over.word = (text) => word(text, property);
  over.marked = points.flatMap((point) => {
    const mark = markOf(point);
    return mark ? [{ t: point.t, value: typeof point.value === "number" ? point.value : 0, mark }] : [];
  });
  const empty: null[] = points.map(() => null);
  plot.batch(() => {
    plot.setData(
      isStates ? [points.map(({ t }) => t / 1000), empty, empty, empty] : columns(over.runs),
      false,
    );
    plot.setScale("x", { min: from / 1000, max: to / 1000 });
  });
}

function word(text: string, property: string): string {
  const isBoolean = text === "true" || text === "false";
  return told({ type: "literal", value: text, ...(isBoolean ? { datatype: `${XSD}boolean` } : {}) }, property);
}

/** A quarter to the side; a half nearer or farther. */
function press(event: KeyboardEvent, { from, to, onZoom }: ChartProps): void {
  const span = to - from;
  const moved: Record<string, [number, number]> = {
    ArrowLeft: [-span / 4, -span / 4],
    ArrowRight: [span / 4, span / 4],
    "+": [span / 4, -span / 4],
    "=": [span / 4, -span / 4],
    "-": [-span / 2, span / 2],
  };
  const by = moved[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  onZoom(from + by[0], to + by[1]);
}

function Pointed({ points, at, property }: { points: readonly Point[]; at: number | null; property: string }) {
  const point = at === null ? undefined : points.find(({ t }) => t === Math.round(at * 1000));
  if (!point || point.value === null) return <>{texts.now.chartHint}</>;
  const isNumber = typeof point.value === "number";
  const spread = isNumber && lowest(point) !== highest(point) ? ` (${short(lowest(point))} – ${short(highest(point))})` : "";
  const mark = markOf(point);
  return (
    <>
      <bdi class="told strong">
        {isNumber ? short(point.value as number) : word(String(point.value), property)} {unit(point.unit)}
      </bdi>
      {spread} · {whole(point.t)}
      {mark && ` · ${texts.now.marks[mark]}`}
    </>
  );
}
