/** A place and its lines: what, value with unit, trend, age, and what is doubtful of it. */

import { memo } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { Age, Badge, Told } from "../../parts";
import { isNumeric } from "../../protocol/terms";
import { href } from "../../state/address";
import { age, since, unit, value } from "../../state/format";
import { bufferedMs, type Stream } from "../../state/streams";
import { texts } from "../../texts";
import type { By, Line as LineOf } from "./groups";
import { GAP, HEAD, LINE, linesSeen, type Placed } from "./layout";
import { Sparkline } from "./Sparkline";

interface GroupProps {
  placed: Placed;
  columns: number;
  view: { top: number; bottom: number };
  by: By;
}

export function Group({ placed, columns, view, by }: GroupProps) {
  const [from, to] = linesSeen(placed, view.top, view.bottom);
  const width = `(100% - ${(columns - 1) * GAP}px) / ${columns}`;
  return (
    <section
      class="group"
      role="listitem"
      style={{
        top: `${placed.top}px`,
        height: `${placed.height}px`,
        width: `calc(${width})`,
        left: `calc((${width} + ${GAP}px) * ${placed.column})`,
      }}
    >
      <h2 style={{ height: `${HEAD}px` }}>
        <Told title={placed.group.key}>{placed.group.name}</Told>
      </h2>
      <ul style={{ paddingTop: `${from * LINE}px` }}>
        {placed.group.lines.slice(from, to).map((line) => (
          <Line key={line.stream.key} stream={line.stream} name={line.name} by={by} />
        ))}
      </ul>
    </section>
  );
}

const Line = memo(function Line({ stream, name, by }: LineOf & { by: By }) {
  const reading = stream.latest.value;
  const absence = stream.absence.value;
  return (
    <li class={absence ? "line absent" : "line"} data-stream={stream.key}>
      <a href={href("now", [stream.sensor, stream.property, stream.place], by === "place" ? {} : { by })}>
        <Told title={name}>{name}</Told>
      </a>
      <Value stream={stream} />
      <Sparkline trend={stream.trend} />
      <span class="doubts">
        {absence && (
          <Badge tone="person" title={absence.isOffline ? texts.now.badgeMeanings.offline : texts.now.badgeMeanings.silent}>
            {absence.isOffline ? texts.now.badges.offline : texts.now.badges.silent} {texts.now.since(since(absence.since))}
          </Badge>
        )}
        {reading.clockSuspect && (
          <Badge tone="doubt" title={texts.now.badgeMeanings.clock}>
            {texts.now.badges.clock}
          </Badge>
        )}
        {bufferedMs(reading) > 0 && (
          <Badge tone="doubt" title={texts.now.badgeMeanings.buffered(age(bufferedMs(reading)))}>
            {texts.now.badges.buffered}
          </Badge>
        )}
      </span>
      <span class="age quiet small">
        <Age at={reading.at} />
      </span>
    </li>
  );
});

/** One soft flash where it changed, nothing where it is drawn first. */
function Value({ stream }: { stream: Stream }) {
  const reading = stream.latest.value;
  const box = useRef<HTMLSpanElement>(null);
  const before = useRef(reading.observation);
  useEffect(() => {
    if (before.current === reading.observation) return;
    before.current = reading.observation;
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    box.current?.animate?.([{ backgroundColor: "var(--accent-soft)" }, { backgroundColor: "transparent" }], 200);
  }, [reading.observation]);
  const text = value(reading.value, stream.property);
  const [whole, fraction] = isNumeric(reading.value) ? split(text) : [text, ""];
  return (
    <span ref={box} class={isNumeric(reading.value) ? "value is-number" : "value"}>
      <bdi class="told" title={text}>
        {whole}
        <span class="fraction">{fraction}</span>
      </bdi>{" "}
      <span class="unit quiet">{unit(reading.unit)}</span>
    </span>
  );
}

const POINT = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";

/** Before, and from, the decimal point: it stands at one place in all lines. */
function split(text: string): [string, string] {
  const at = text.lastIndexOf(POINT);
  return at < 0 || /e/.test(text) ? [text, ""] : [text.slice(0, at), text.slice(at)];
}
