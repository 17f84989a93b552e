/** The other gateways of the federation: who is here, how old what is known of each is. */

import { Age, Badge, Empty, Problem, Skeleton, Told } from "../../parts";
import { api } from "../../protocol/http";
import { bytes, short } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { byNeed, type Federation, type Member } from "./federation";

const EVERY_MS = 3_000;

export function Gateways() {
  const { value, problem, again } = useLoad("gateways", (ends) => api.get<Federation>("/federation", {}, ends), EVERY_MS);
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={4} />;
  const away = value.members.filter(({ state }) => state !== "up").length;
  const said = texts.health.gateways;
  return (
    <section class="gateways">
      <h2>{said.title}</h2>
      <Problem text={problem} again={again} />
      <p>
        <bdi class="told">{said.here(value.gateway, value.position)}</bdi>{" "}
        {value.members.length > 0 && <span class={away > 0 ? "person" : "quiet"}>{away > 0 ? said.away(away) : said.allThere}</span>}
      </p>
      {value.members.length === 0 ? (
        <Empty>
          <p>{said.nobody}</p>
          <p>{said.nobodyHow}</p>
        </Empty>
      ) : (
        <Table members={byNeed(value.members)} />
      )}
    </section>
  );
}

const COLUMNS = Object.entries(texts.health.gateways.columns);
const TEXTS = new Set(["name", "state", "position"]);

function Table({ members }: { members: readonly Member[] }) {
  return (
    <div class="wide" role="region" aria-label={texts.health.gateways.title} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {COLUMNS.map(([key, name]) => (
              <th key={key} scope="col" class={TEXTS.has(key) ? "" : "number"}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <Line key={member.name} member={member} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ member }: { member: Member }) {
  const said = texts.health.gateways;
  const isUp = member.state === "up";
  return (
    <tr data-gateway={member.name} data-state={member.state}>
      <th scope="row">
        <Told>{member.name}</Told>
      </th>
      <td>
        <Badge tone={isUp ? "good" : "person"}>{said.states[member.state] ?? member.state}</Badge>
        {member.reason && <bdi class="told small reason">{member.reason}</bdi>}
      </td>
      <td class="number">
        <Age at={Date.parse(member.since)} />
      </td>
      <td class="number">{member.lag_s === null ? <span class="quiet">{said.nothing}</span> : said.lag(member.lag_s.toFixed(1))}</td>
      <td>
        <Told>{member.position ?? ""}</Told>
      </td>
      <td class="number">{short(member.entries)}</td>
      <td class="number">{short(member.replica_quads)}</td>
      <td class="number">{short(member.outbox_quads)}</td>
      <td class="number">{bytes(member.event_log_bytes)}</td>
      <td class="number">{short(Math.round(member.bytes_per_s))}</td>
      <td class="number">{short(member.resyncs)}</td>
      <td class={member.gaps > 0 ? "number doubt" : "number"}>{short(member.gaps)}</td>
    </tr>
  );
}
