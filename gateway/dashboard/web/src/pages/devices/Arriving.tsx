/** A live counter of what arrives, and the way on. */

import { useRef } from "preact/hooks";
import { Age, Problem, Told } from "../../parts";
import { may } from "../../protocol/session";
import { href } from "../../state/address";
import { short } from "../../state/format";
import { useLoad } from "../../state/load";
import { streams, structure } from "../../state/streams";
import { texts } from "../../texts";
import { devices, OPEN } from "./things";
import { look, type Message, messages } from "./told";
import { visible } from "./visible";

const EVERY_MS = 1000;

export function Arriving() {
  structure.value;
  const first = useRef<number | null>(null);
  const told = useLoad(
    "arriving",
    async (signal) => {
      await visible(signal);
      const [house, last] = await Promise.all([
        look(signal),
        may("operations") ? messages("#", 1, signal) : Promise.resolve<Message[]>([]),
      ]);
      const number = last[0]?.number ?? 0;
      first.current ??= number;
      return { house, last: last[0], count: number - first.current };
    },
    EVERY_MS,
  );
  const { house, last, count } = told.value ?? {};
  const topics = house?.topics.length ?? 0;
  const waiting = house ? devices(house.proposals, (status) => OPEN.has(status)).length : 0;
  const counts: [keyof typeof texts.connect.counts, number][] = [
    ...(may("operations") ? [["messages", count ?? 0] as [keyof typeof texts.connect.counts, number]] : []),
    ["topics", topics],
    ["devices", waiting],
    ["streams", streams.size],
  ];
  const isQuiet = topics + waiting + streams.size + (count ?? 0) === 0;
  return (
    <section class="arriving" aria-labelledby="arriving-head">
      <h2 id="arriving-head">{texts.connect.arriving}</h2>
      <Problem text={told.problem} again={told.again} />
      {isQuiet ? (
        <p class="quiet waiting">{texts.connect.waiting}</p>
      ) : (
        <dl aria-live="polite">
          {counts.map(([name, value]) => (
            <div key={name} data-count={name}>
              <dd class="big">{short(value)}</dd>
              <dt class="quiet">{texts.connect.counts[name]}</dt>
            </div>
          ))}
        </dl>
      )}
      {last && !isQuiet && (
        <p class="quiet small">
          {texts.connect.lastTopic} <Told>{last.topic}</Told> <Age at={Date.parse(last.received_at)} />
        </p>
      )}
      {waiting > 0 && <a href={href("devices")}>{texts.connect.onward}</a>}
    </section>
  );
}
