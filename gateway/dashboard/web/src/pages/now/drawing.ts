/** What the chart of a stream looks like: uPlot's options, and what is drawn over its lines. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisTime, short, unit } from "../../state/format";
import type { Mark, Run, State, UnitChange } from "./history";

export interface Marked {
  t: number;
  value: number;
  mark: Mark;
}

/** What the hooks draw; replaced before each drawing. */
export interface Over {
  runs: Run[];
  changes: UnitChange[];
  marked: Marked[];
  states: State[];
  word(value: string): string;
}

interface Colours {
  text: string;
  quiet: string;
  line: string;
  accent: string;
  soft: string;
  doubt: string;
  person: string;
  sunken: string;
}

export type Zoom = (fromMs: number, toMs: number) => void;

const HEIGHT = 220;
const BAND_HEIGHT = 116;

function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    quiet: of("quiet"),
    line: of("line"),
    accent: of("accent"),
    soft: of("accent-soft"),
    doubt: of("doubt"),
    person: of("person"),
    sunken: of("sunken"),
  };
}

export interface Drawn {
  isStates: boolean;
  width: number;
  over: Over;
  zoom: Zoom;
  /** Where the pointer is, as an index of the columns; null where it is not. */
  point(at: number | null): void;
}

/** A chart within `box`; numbers as a band of lowest to highest with the mean, or states side by side. */
export function chart(box: HTMLElement, drawn: Drawn): uPlot {
  const colour = colours();
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: colour.quiet,
    font,
    grid: { stroke: colour.line, width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      width: drawn.width,
      height: drawn.isStates ? BAND_HEIGHT : HEIGHT,
      padding: [18, 8, 0, drawn.isStates ? 8 : 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: !drawn.isStates } },
      scales: { x: { time: true }, y: drawn.isStates ? { range: [0, 1] } : { range: roomy } },
      axes: [
        { ...axis, grid: { show: false }, space: 72, size: 28, values: times },
        drawn.isStates
          ? { show: false }
          : { ...axis, size: widest, values: (_, splits) => splits.map(short), space: 36 },
      ],
      series: series(colour, drawn.isStates),
      hooks: {
        drawAxes: [
          (self) => drawRuns(self, drawn.over, colour),
          (self) => drawStates(self, drawn.over, colour, font),
        ],
        draw: [(self) => drawOver(self, drawn.over, colour, font)],
        setCursor: [(self) => drawn.point(self.cursor.idx ?? null)],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < 4) return;
            drawn.zoom(self.posToVal(left, "x") * 1000, self.posToVal(left + width, "x") * 1000);
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [[], [], [], []],
    box,
  );
  return plot;
}

/** For scale and pointer alone: the lines are drawn by `drawRuns`, which breaks them in any gap. */
function series(colour: Colours, isStates: boolean): uPlot.Series[] {
  const one: uPlot.Series = { stroke: colour.accent, show: !isStates, paths: () => null, points: { show: false } };
  return [{}, one, one, one];
}

/** Those whose text would be cut off at the left are left out. */
function times(self: uPlot, splits: number[], _axis: number, _space: number, step: number): string[] {
  return splits.map((at) => (self.valToPos(at, "x") < 12 ? "" : axisTime(at * 1000, step)));
}

/** The band of lowest to highest, and the mean on it; what stands alone is a dot on its spread. */
function drawRuns(self: uPlot, over: Over, colour: Colours): void {
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = colour.accent;
  ctx.lineWidth = 1.5 * ratio;
  ctx.lineJoin = "round";
  for (const { times: at, means, lows, highs } of over.runs) {
    const xs = at.map((each) => self.valToPos(each / 1000, "x", true));
    const y = (value: number): number => self.valToPos(value, "y", true);
    ctx.globalAlpha = 0.2;
    ctx.beginPath();
    xs.forEach((x, index) => ctx.lineTo(x, y(highs[index] as number)));
    for (let index = xs.length - 1; index >= 0; index--) ctx.lineTo(xs[index] as number, y(lows[index] as number));
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    xs.forEach((x, index) => ctx.lineTo(x, y(means[index] as number)));
    ctx.stroke();
    if (xs.length > 1) continue;
    ctx.beginPath();
    ctx.moveTo(xs[0] as number, y(lows[0] as number));
    ctx.lineTo(xs[0] as number, y(highs[0] as number));
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(xs[0] as number, y(means[0] as number), 2 * ratio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

/** A tenth above and below; equal numbers stand in the middle. */
function roomy(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = (high - low) / 10 || Math.max(Math.abs(high) / 20, 0.5);
  return [low - room, high + room];
}

/** As wide as the widest number. */
function widest(self: uPlot, values: string[] | null): number {
  if (!values) return 40;
  self.ctx.font = `${12 * devicePixelRatio}px sans-serif`;
  const width = Math.max(...values.map((each) => self.ctx.measureText(each).width)) / devicePixelRatio;
  return Math.ceil(width) + 16;
}

const BAND_TOP = 0.12;

function drawStates(self: uPlot, over: Over, colour: Colours, font: string): void {
  if (over.states.length === 0) return;
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio;
  const words = [...new Set(over.states.map((each) => each.value))].sort();
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = scaled(font, ratio);
  ctx.textBaseline = "middle";
  const [top, height] = [bbox.top + bbox.height * BAND_TOP, bbox.height * (1 - BAND_TOP)];
  for (const { from, to, value } of over.states) {
    const left = Math.max(self.valToPos(from / 1000, "x", true), bbox.left);
    const right = Math.min(self.valToPos(to / 1000, "x", true), bbox.left + bbox.width);
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    const width = Math.max(right - left, ratio);
    const [fill, alpha, ink] = shade(value, words, colour);
    ctx.globalAlpha = alpha;
    ctx.fillStyle = fill;
    ctx.fillRect(left, top, width, height);
    ctx.globalAlpha = 1;
    const text = over.word(value);
    if (ctx.measureText(text).width + 16 * ratio > width) continue;
    ctx.fillStyle = ink;
    ctx.fillText(text, left + 8 * ratio, top + height / 2);
  }
  ctx.restore();
}

/** True in the accent, false pale, words in steps between. */
function shade(value: string, words: string[], colour: Colours): [string, number, string] {
  if (value === "false") return [colour.quiet, 0.16, colour.text];
  if (value === "true") return [colour.accent, 0.4, colour.text];
  const step = words.indexOf(value) / Math.max(words.length - 1, 1);
  return [colour.accent, 0.12 + 0.36 * step, colour.text];
}

function drawOver(self: uPlot, over: Over, colour: Colours, font: string): void {
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = scaled(font, ratio);
  for (const { t, from, to } of over.changes) {
    const x = Math.round(self.valToPos(t / 1000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colour.doubt;
    ctx.lineWidth = ratio;
    ctx.setLineDash([4 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillStyle = colour.doubt;
    ctx.textBaseline = "bottom";
    ctx.textAlign = x > bbox.left + bbox.width / 2 ? "right" : "left";
    ctx.fillText(`${unit(from) || "–"} → ${unit(to) || "–"}`, x, bbox.top - 3 * ratio);
  }
  ctx.setLineDash([]);
  for (const { t, value, mark } of over.marked) {
    const x = self.valToPos(t / 1000, "x", true);
    const y = over.states.length > 0 ? bbox.top : self.valToPos(value, "y", true);
    if (x >= bbox.left && x <= bbox.left + bbox.width) drawMark(ctx, mark, x, y, colour, ratio);
  }
  ctx.restore();
}

/** A shape for each kind, as the legend below has them: colour alone says nothing. */
function drawMark(
  ctx: CanvasRenderingContext2D,
  mark: Mark,
  x: number,
  y: number,
  colour: Colours,
  ratio: number,
): void {
  const size = 4 * ratio;
  ctx.lineWidth = 1.5 * ratio;
  ctx.strokeStyle = ctx.fillStyle = mark === "refused" ? colour.person : colour.doubt;
  ctx.beginPath();
  if (mark === "revised" || mark === "clock") {
    const up = mark === "revised" ? -1 : 1;
    ctx.moveTo(x, y + up * size);
    ctx.lineTo(x + size, y - up * size);
    ctx.lineTo(x - size, y - up * size);
    ctx.closePath();
    ctx.fill();
  } else if (mark === "refused") {
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x + size, y - size);
    ctx.lineTo(x - size, y + size);
    ctx.stroke();
  } else if (mark === "buffered") {
    ctx.rect(x - size * 0.8, y - size * 0.8, size * 1.6, size * 1.6);
    ctx.stroke();
  } else {
    ctx.arc(x, y, mark === "retained" ? size : size * 0.6, 0, 2 * Math.PI);
    if (mark === "retained") ctx.stroke();
    else ctx.fill();
  }
}

function scaled(font: string, ratio: number): string {
  return font.replace(/^12px/, `${12 * ratio}px`);
}
