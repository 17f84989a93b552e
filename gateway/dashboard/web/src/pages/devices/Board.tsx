/** Three columns that a device walks through: heard, proposed, in use. On a phone one at a time. */

import { useMemo } from "preact/hooks";
import { Empty, Problem, Search, Skeleton } from "../../parts";
import { address, href, replaceParameters } from "../../state/address";
import { useLoad } from "../../state/load";
import { called, labelled, places, streams, structure } from "../../state/streams";
import { texts } from "../../texts";
import { Heard } from "./Heard";
import { InUse } from "./InUse";
import { used } from "./inuse";
import { Proposed } from "./Proposed";
import { rooms } from "./rooms";
import { alike, devices, OPEN, readyFirst, unclaimed } from "./things";
import { type House, look } from "./told";
import { visible } from "./visible";

const EVERY_MS = 2000;
const COLUMNS = ["heard", "proposed", "used"] as const;
type Column = (typeof COLUMNS)[number];

export function Board() {
  const house = useLoad(
    "house",
    async (signal) => {
      await visible(signal);
      return look(signal);
    },
    EVERY_MS,
  );
  return (
    <>
      <h1 class="hidden">{texts.devices.title}</h1>
      <Problem text={house.problem} again={house.again} />
      {house.value ? <Columns house={house.value} again={house.again} /> : !house.problem && <Skeleton lines={8} />}
    </>
  );
}

function Columns({ house, again }: { house: House; again(): void }) {
  const { find = "", column } = address.value.parameters;
  structure.value;
  labelled.value;
  const heard = useMemo(() => alike(unclaimed(house.topics, house.proposals, house.mappings)), [house]);
  const open = useMemo(() => readyFirst(devices(house.proposals, (status) => OPEN.has(status))), [house.proposals]);
  const rejected = useMemo(() => devices(house.proposals, (status) => status === "rejected"), [house.proposals]);
  const inUse = useMemo(
    () => used(house.mappings, house.proposals, streams.values(), called),
    [house, structure.value, labelled.value],
  );
  const all = useMemo(
    () => rooms(places(), house.mappings, house.proposals, called),
    [house, structure.value, labelled.value],
  );
  const isFound = finder(find);
  const counts: Record<Column, number> = { heard: heard.length, proposed: open.length, used: inUse.length };
  const chosen: Column = COLUMNS.find((each) => each === column) ?? (open.length > 0 ? "proposed" : "used");
  const isEmpty = heard.length + open.length + inUse.length === 0;
  return (
    <>
      <Head find={find} />
      <div class="tabs switch" role="group" aria-label={texts.devices.title}>
        {COLUMNS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === chosen}
            onClick={() => replaceParameters({ column: each })}
          >
            {texts.devices.columns[each]} <span class="small">{counts[each]}</span>
          </button>
        ))}
      </div>
      {isEmpty && (
        <Empty>
          <p>{texts.devices.emptyAll}</p>
          <a href={href("devices", ["connect"])}>{texts.devices.connect}</a>
        </Empty>
      )}
      <div class="columns" hidden={isEmpty} data-column={chosen}>
        <Heard groups={heard.filter(({ filter, topics }) => isFound(filter, ...topics.map(({ topic }) => topic)))} forgotten={house.forgotten} find={find} />
        <Proposed
          devices={open.filter(({ name, parts }) => isFound(name, ...parts.map(({ label }) => label)))}
          rejected={rejected}
          rooms={all}
          find={find}
          again={again}
        />
        <InUse
          devices={inUse.filter(({ name, parts }) => isFound(name, ...parts.flatMap(({ place, mapping }) => [called(place), mapping.topic ?? ""])))}
          rooms={all}
          find={find}
          again={again}
        />
      </div>
    </>
  );
}

/** Whether every word of `find` stands in one of the texts. */
function finder(find: string): (...told: string[]) => boolean {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (...told) => {
    const text = told.join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function Head({ find }: { find: string }) {
  return (
    <div class="head">
      <Search label={texts.devices.search} value={find} onText={(text) => replaceParameters({ find: text || undefined })} />
      <nav class="links">
        <a href={href("devices", ["connect"])}>{texts.devices.connect}</a>
        <a href={href("devices", ["edit"])}>{texts.devices.newMapping}</a>
        <a href={href("devices", ["history"])}>{texts.devices.history}</a>
      </nav>
    </div>
  );
}
