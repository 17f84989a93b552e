/** Why: why is this here, why is this quiet; and what to start from. */

import "./why.css";
import { address } from "../../state/address";
import { texts } from "../../texts";
import { Questions, SearchHead, Values } from "./Choose";
import { OfRule, OfSubscription, Quiet } from "./Quiet";
import { Trail } from "./Trail";

export default function Why() {
  const { path, parameters } = address.value;
  const { name, query, spuid, rule } = parameters;
  if (path[0] === "trail" && Object.keys(parameters).some((each) => each !== "find")) {
    return (
      <div class="why">
        <Trail />
      </div>
    );
  }
  if (path[0] === "quiet" && (name || query)) {
    return (
      <div class="why" key={`${name}\n${query}`}>
        <Quiet name={name} query={query} />
      </div>
    );
  }
  if (path[0] === "quiet" && (spuid || rule)) {
    return (
      <div class="why" key={`${spuid}\n${rule}`}>
        {spuid ? <OfSubscription spuid={spuid} /> : <OfRule rule={rule ?? ""} />}
      </div>
    );
  }
  return (
    <div class="why">
      <h1 class={path[0] ? "" : "hidden"}>{path[0] === "quiet" ? texts.why.quiet : path[0] === "trail" ? texts.why.here : texts.why.title}</h1>
      <SearchHead label={texts.why.search} />
      {path[0] !== "trail" && <Questions />}
      {path[0] !== "quiet" && <Values />}
    </div>
  );
}
