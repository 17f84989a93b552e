/** uPlot in the page's colours; loaded when a chart is first shown. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { short } from "../../state/format";
import { called, calledProperty } from "../../state/streams";
import { PROPERTY } from "../../protocol/terms";
import { aligned, type Line } from "./shape";

/** Hues that are told apart in both themes; the accent first. */
const HUES = [175, 32, 262, 212, 330, 95, 12, 285, 55, 145, 235, 300];

/** Draw lines into `element`, which has a width. */
export function draw(element: HTMLElement, lines: readonly Line[], height: number): uPlot {
  const style = getComputedStyle(element);
  const quiet = style.getPropertyValue("--quiet");
  const line = style.getPropertyValue("--line");
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const axis: uPlot.Axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui" };
  const series = lines.map(({ name }, index): uPlot.Series => ({
    label: !name ? "" : name.startsWith(PROPERTY) ? calledProperty(name) : called(name),
    stroke: `hsl(${HUES[index % HUES.length]} ${isDark ? "50% 62%" : "65% 32%"})`,
    width: 1.5,
    points: { show: true, size: 5 },
    value: (_, value) => (value === null ? "–" : short(value)),
  }));
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      axes: [axis, { ...axis, size: 64, values: (_, values) => values.map(short) }],
      series: [{}, ...series],
      legend: { show: lines.length > 1 || (lines[0]?.name ?? "") !== "" },
      cursor: { drag: { x: true, y: false } },
    },
    aligned(lines) as uPlot.AlignedData,
    element,
  );
}
