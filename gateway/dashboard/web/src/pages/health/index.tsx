/** Health: what passes, what is wrong, what it costs, who is there, what is in force. */

import "./health.css";
import type { ComponentType } from "preact";
import { me } from "../../protocol/session";
import { address, href } from "../../state/address";
import { texts } from "../../texts";
import { Backup } from "./Backup";
import { Clients } from "./Clients";
import { Gateways } from "./Gateways";
import { Overview, wrong } from "./Overview";
import { Quarantine } from "./Quarantine";
import { Questions } from "./Questions";
import { Configuration, ConnectedList, Log } from "./Running";

const PARTS: Record<keyof typeof texts.health.tabs, ComponentType> = {
  overview: Overview,
  questions: Questions,
  quarantine: Quarantine,
  connected: ConnectedList,
  gateways: Gateways,
  clients: Clients,
  configuration: Configuration,
  backup: Backup,
  log: Log,
};

type Part = keyof typeof PARTS;

/** Letting clients in and out is for who may do everything, where clients are asked who they are; so is a backup. */
function isOffered(part: Part): boolean {
  if (part === "gateways") return (me.value?.gateways.length ?? 0) > 0;
  if (part === "backup") return me.value?.everything ?? false;
  return part !== "clients" || ((me.value?.secured ?? false) && (me.value?.everything ?? false));
}

export default function Health() {
  const said = (address.value.path[0] ?? "overview") as Part;
  const part = said in PARTS && isOffered(said) ? said : "overview";
  const Shown = PARTS[part];
  return (
    <>
      <h1 class="hidden">{texts.health.title}</h1>
      <nav class="parts" aria-label={texts.health.title}>
        <ul>
          {(Object.keys(PARTS) as Part[]).filter(isOffered).map((each) => (
            <li key={each}>
              <a href={href("health", each === "overview" ? [] : [each])} aria-current={each === part ? "page" : undefined}>
                {texts.health.tabs[each]}
                {each === "overview" && wrong.value > 0 && <span class="mark-count person">{wrong.value}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="health" key={part}>
        <Shown />
      </div>
    </>
  );
}
