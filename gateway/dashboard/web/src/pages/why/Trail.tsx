/** Why is this here: message → mapping → observation → triples → question → command. */

import { Empty, Problem, Skeleton } from "../../parts";
import { api } from "../../protocol/http";
import { localName } from "../../protocol/terms";
import { address } from "../../state/address";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { Onward, Stations } from "./Stations";
import type { Station } from "./stations";

interface Told {
  stations: Station[];
  /** Observations that it is of besides. */
  others: string[];
}

export function Trail() {
  const { observation, ...others } = address.value.parameters;
  const parameters = observation ? { iri: observation } : others;
  const key = new URLSearchParams(parameters).toString();
  const { value, problem, again } = useLoad(key, (ends) =>
    api.get<Told>("/why/trail", parameters, ends),
  );
  return (
    <>
      <h1>{texts.why.here}</h1>
      <Problem text={problem} again={again} />
      {!value && !problem && <Skeleton lines={6} />}
      {value && value.stations.length === 0 && <Empty>{texts.why.noTrail}</Empty>}
      {value && <Stations stations={value.stations} across label={texts.why.here} />}
      {value && value.others.length > 0 && (
        <section>
          <h2>{texts.why.others}</h2>
          <ul>
            {value.others.map((iri) => (
              <li key={iri}>
                <Onward link={{ kind: "observation", id: iri }} text={localName(iri)} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
