/** A place and its lines: what, value with unit, trend, age, and what is doubtful of it. */

import { memo } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { Age, Told } from "../../parts";
import { isBoolean, isNumeric } from "../../protocol/terms";
import { address, href } from "../../state/address";
import { short, since, unit, value, whole } from "../../state/format";
import type { Stream } from "../../state/streams";
import { texts } from "../../texts";
import { Doubts } from "./Doubts";
import type { By, Line as LineOf } from "./groups";
import { GAP, HEAD, LINE, type Placed } from "./layout";
import { askHref, whyHref } from "./links";
import { opened } from "./opened";
import { Sparkline } from "./Sparkline";
import { lastingSince, ratePerHour } from "./trend";

interface GroupProps {
  placed: Placed;
  columns: number;
  /** The first line that is drawn, and the one behind the last. */
  from: number;
  to: number;
  by: By;
}

export const Group = memo(function Group({ placed, columns, from, to, by }: GroupProps) {
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
});

const Line = memo(function Line({ stream, name, by }: LineOf & { by: By }) {
  const reading = stream.latest.value;
  const isOpen = opened.value === stream.key;
  return (
    <li class={stream.absence.value ? "line absent" : "line"} data-stream={stream.key}>
      <a class="what" href={streamHref(stream, by)} aria-current={isOpen ? "true" : undefined}>
        <Told title={name}>{name}</Told>
        <Doubts stream={stream} />
      </a>
      <Value stream={stream} />
      <span class="trend">
        {isBoolean(reading.value) ? <Since trend={stream.trend} /> : <Sparkline trend={stream.trend} />}
        {isNumeric(reading.value) && <Rate trend={stream.trend} />}
      </span>
      <span class="age quiet small">
        <Age at={reading.at} />
      </span>
      <span class="offers small">
        <a href={whyHref(reading.observation)}>{texts.now.why}</a>
        <a href={askHref(stream)}>{texts.now.ask}</a>
      </span>
    </li>
  );
});

function streamHref({ sensor, property, place }: Stream, by: By): string {
  return href("now", [sensor, property, place], { by: by === "place" ? undefined : by, find: address.peek().parameters.find });
}

/** One soft flash where it changed, nothing where it is drawn first. */
function Value({ stream }: { stream: Stream }) {
  const reading = stream.latest.value;
  const box = useRef<HTMLElement>(null);
  const before = useRef(reading.observation);
  useEffect(() => {
    if (before.current === reading.observation) return;
    before.current = reading.observation;
    if (calm.matches) return;
    for (const digits of box.current?.querySelectorAll(".digits") ?? []) digits.animate(FLASH, 200);
  }, [reading.observation]);
  const text = value(reading.value, stream.property);
  const [head, fraction] = isNumeric(reading.value) ? split(text) : [clipped(text), ""];
  const kind = isNumeric(reading.value) ? "is-number" : head.length > LONG_WORD ? "is-text" : "";
  return (
    <span class={`value ${kind}`} ref={box} title={clipped(text)}>
      <bdi class="told digits">{head}</bdi>
      <span class="behind">
        <span class="digits">{fraction}</span> <span class="unit quiet">{unit(reading.unit)}</span>
      </span>
    </span>
  );
}

/** Up or down and how fast, where it is steady. */
function Rate({ trend }: { trend: Stream["trend"] }) {
  const rate = ratePerHour(trend.value);
  if (rate === null) return null;
  const text = texts.now.perHour(short(Math.abs(rate)));
  return (
    <span class="rate small quiet" title={`${rate > 0 ? texts.now.rising : texts.now.falling} ${text}`}>
      {rate > 0 ? "↑" : "↓"} {text}
    </span>
  );
}

function Since({ trend }: { trend: Stream["trend"] }) {
  const at = lastingSince(trend.value);
  if (at === null) return null;
  return (
    <span class="small quiet" title={whole(at)}>
      {texts.now.since(since(at))}
    </span>
  );
}

const FLASH = [{ backgroundColor: "var(--accent-soft)" }, { backgroundColor: "transparent" }];
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const LONG_WORD = 14;
const LONGEST = 200;

/** A value of a megabyte is not laid out to be cut off. */
function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const POINT = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === "decimal")?.value ?? ".";

/** Before, and from, the decimal point: it stands at one place in all lines. */
function split(text: string): [string, string] {
  const at = text.lastIndexOf(POINT);
  return at < 0 || /e/.test(text) ? [text, ""] : [text.slice(0, at), text.slice(at)];
}
