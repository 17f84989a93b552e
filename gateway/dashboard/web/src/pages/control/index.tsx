/** Control: what can be set, how it is, what became of the last commands, and what waits. */

import "./control.css";
import { useEffect, useMemo } from "preact/hooks";
import { Empty, Problem, Search, Skeleton, Told } from "../../parts";
import { api } from "../../protocol/http";
import { may, me } from "../../protocol/session";
import { address, href, replaceParameters } from "../../state/address";
import { type Live, useLive } from "../../state/live";
import { useLoad } from "../../state/load";
import { called, calledProperty, isThere as readings, labelled, type Stream, streamKey, streams, structure } from "../../state/streams";
import { texts } from "../../texts";
import { type Actuator, byPlace } from "./actuators";
import { own, toldBy } from "./commanding";
import { ACTUATIONS, byActuator } from "./commands";
import { Waiting } from "./Delayed";
import { Line } from "./Line";
import { RULES, ruleOf } from "./rules";

const THERE = "SELECT ?actuator ?p ?o { GRAPH graph:mappings { ?actuator a sosa:Actuator ; ?p ?o } }";

export default function Control() {
  const { parameters, path } = address.value;
  const find = parameters.find ?? "";
  const { value, problem, again } = useLoad("actuators", (ends) =>
    api.get<{ actuators: Actuator[] }>("/actuators", {}, ends),
  );
  const there = useLive(THERE);
  const rows = there?.rows.value;
  const isThere = there?.isThere.value ?? false;
  useEffect(() => {
    if (isThere) again();
  }, [rows]);
  const actuations = useLive(ACTUATIONS);
  const acted = actuations?.rows.value;
  const mine = own.value;
  const commands = useMemo(() => byActuator(acted ?? [], mine), [acted, mine]);
  useEffect(() => {
    toldBy((id) => [...commands.values()].some((list) => list.some((each) => each.id.endsWith(`/${id}`))));
  }, [commands]);
  const ruled = useLive(RULES);
  const ruleRows = ruled?.rows.value;
  // Until everything has been told, nothing is said not to be there.
  const isReady = readings.value && hasCome(actuations) && hasCome(ruled);
  const rules = useMemo(() => (ruleRows ?? []).map(ruleOf), [ruleRows]);
  structure.value;
  labelled.value;
  const actuators = value?.actuators ?? [];
  const places = useMemo(
    () => byPlace(actuators, find, called, calledProperty),
    [value, find, labelled.value],
  );
  return (
    <>
      <h1 class="hidden">{texts.control.title}</h1>
      <div class="head">
        <Search label={texts.control.search} value={find} onText={(text) => replaceParameters({ find: text || undefined })} />
      </div>
      <Problem text={problem} again={again} />
      {!value && !problem && <Skeleton lines={6} />}
      {value && places.length === 0 && <Nothing find={find} />}
      {value && actuators.some((each) => !mayCommand(each)) && <p class="quiet">{texts.control.readOnly}</p>}
      {places.map((place) => (
        <section key={place.feature} class="place">
          <h2>
            <Told title={place.feature}>{place.name}</Told>
          </h2>
          <ul>
            {place.actuators.map((actuator) => (
              <Line
                key={actuator.id}
                actuator={actuator}
                stream={streamOf(actuator)}
                commands={commands.get(actuator.id) ?? []}
                rules={rules}
                mayCommand={mayCommand(actuator)}
                isReady={isReady}
                isOpen={path[0] === actuator.name || path[0] === actuator.id}
              />
            ))}
          </ul>
        </section>
      ))}
      {value && actuators.length > 0 && <Waiting actuators={actuators} />}
    </>
  );
}

function Nothing({ find }: { find: string }) {
  if (find) return <Empty>{texts.control.emptyFind(find)}</Empty>;
  return (
    <Empty>
      <p>{texts.control.empty}</p>
      <p>{texts.control.emptyHow}</p>
      {may("mappings") && <a href={href("devices")}>{texts.control.emptyNext}</a>}
    </Empty>
  );
}

/** All of them with the capability; single ones by the right to publish to their topic. */
function mayCommand(actuator: Actuator): boolean {
  return may("command") || (me.value?.policy?.publish ?? []).some((filter) => matches(filter, actuator.topic));
}

function matches(filter: string, topic: string): boolean {
  const levels = filter.split("/");
  const said = topic.split("/");
  const whole = levels.indexOf("#");
  if (whole >= 0) return levels.slice(0, whole).every((level, at) => level === "+" || level === said[at]);
  return levels.length === said.length && levels.every((level, at) => level === "+" || level === said[at]);
}

/** Whether it has answered, or never will. */
function hasCome(live: Live | null): boolean {
  return live !== null && (live.isThere.value || live.problem.value !== "");
}

/** The stream whose readings tell its state. */
function streamOf({ sensor, property, feature }: Actuator): Stream | undefined {
  if (sensor) return streams.get(streamKey(sensor, property, feature));
  for (const stream of streams.values()) {
    if (stream.property === property && stream.place === feature) return stream;
  }
  return undefined;
}
