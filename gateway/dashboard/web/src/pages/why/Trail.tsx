/** Why is this here: message → mapping → observation → triples → question → command. */

import { Empty, Problem, Skeleton } from "../../parts";
import { api } from "../../protocol/http";
import { address } from "../../state/address";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { Stations } from "./Stations";
import type { Station } from "./stations";

export function Trail() {
  const { parameters } = address.value;
  const key = new URLSearchParams(parameters).toString();
  const { value, problem, again } = useLoad(key, (ends) =>
    api.get<{ stations: Station[] }>("/why/trail", parameters, ends),
  );
  return (
    <>
      <h1>{texts.why.here}</h1>
      <Problem text={problem} again={again} />
      {!value && !problem && <Skeleton lines={6} />}
      {value && value.stations.length === 0 && <Empty>{texts.why.noTrail}</Empty>}
      {value && <Stations stations={value.stations} across label={texts.why.here} />}
    </>
  );
}
