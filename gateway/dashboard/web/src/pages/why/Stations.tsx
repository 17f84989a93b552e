/** A trail: stations, each with the thing itself and its time; the broken one says what to do. */

import { Age, Told } from "../../parts";
import { texts } from "../../texts";
import { itemName, itemValue } from "./wording";
import { type Item, type Link, linkHref, mendLink, type Station } from "./stations";

const MARKS = { ok: "✓", broken: "✕", waiting: "·" };

interface StationsProps {
  stations: Station[];
  /** From left to right where there is room, or one beneath the other. */
  across: boolean;
  label: string;
}

export function Stations({ stations, across, label }: StationsProps) {
  return (
    <ol class={across ? "stations across" : "stations"} aria-label={label}>
      {stations.map((station, at) => (
        <One key={`${at} ${station.kind}`} station={station} />
      ))}
    </ol>
  );
}

function One({ station }: { station: Station }) {
  const kind = texts.why.kinds[station.kind] ?? "";
  const { status } = station;
  const mend = mendLink(station);
  return (
    <li class={`station ${status} ${station.kind}`} data-station={station.kind} data-status={status}>
      <span class="sign" role="img" aria-label={texts.why.statuses[status]}>
        {MARKS[status]}
      </span>
      <div class="thing">
        <p class="quiet small">
          {kind} {station.time && <Age at={Date.parse(station.time)} />}
        </p>
        <h2>
          <Told title={station.title}>{station.title}</Told>
        </h2>
        {station.share !== undefined && <progress value={station.share} max={1} aria-hidden="true" />}
        {station.items.length > 0 && (
          <dl>
            {station.items.map((item, at) => (
              <Fact key={`${at} ${item.name}`} item={item} isBroken={status === "broken"} />
            ))}
          </dl>
        )}
        {station.problem && <p class="person"><bdi class="told">{station.problem}</bdi></p>}
        {station.advice && (
          <p>
            <bdi class="told">{station.advice}</bdi>
          </p>
        )}
        {mend && <Onward link={mend} text={texts.why.mend[mend.kind] ?? texts.why.open} />}
      </div>
    </li>
  );
}

function Fact({ item, isBroken }: { item: Item; isBroken: boolean }) {
  return (
    <div>
      <dt>{itemName(item)}</dt>
      <dd>{item.link && (item.link.kind !== "topic" || isBroken) ? <Onward link={item.link} text={itemValue(item)} /> : <Told title={item.value}>{itemValue(item)}</Told>}</dd>
    </div>
  );
}

export function Onward({ link, text }: { link: Link; text: string }) {
  const to = linkHref(link);
  if (to === null) return <Told>{text}</Told>;
  return (
    <a href={to}>
      <Told title={link.id}>{text}</Told>
    </a>
  );
}
