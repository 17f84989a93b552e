/** The first minute: where the broker is, what to copy, a login, and what arrives. */

import { useState } from "preact/hooks";
import { Copy, Problem, Skeleton } from "../../parts";
import { api } from "../../protocol/http";
import { me } from "../../protocol/session";
import { address as place, href, replaceParameters } from "../../state/address";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { Arriving } from "./Arriving";
import { address, FAMILIES, type Family, hostOf, isLoopback, type Login, OPENED, setup } from "./connect";
import { LoginForm } from "./LoginForm";
import { Qr } from "./Qr";
import type { Broker } from "./told";

export function Connect() {
  const broker = useLoad("broker", (signal) => api.get<Broker>("/broker", {}, signal));
  return (
    <>
      <p class="back">
        <a href={href("devices")}>← {texts.devices.back}</a>
      </p>
      <h1>{texts.connect.title}</h1>
      <Problem text={broker.problem} again={broker.again} />
      {!broker.value && !broker.problem && <Skeleton />}
      {broker.value && <To broker={broker.value} />}
    </>
  );
}

const PLACEHOLDER: Login = { name: "NAME", secret: "SECRET" };

function To({ broker }: { broker: Broker }) {
  const [login, setLogin] = useState<Login | null>(null);
  const host = hostOf(broker, window.location.hostname);
  const family = FAMILIES.find((each) => each === place.value.parameters.for) ?? "zigbee2mqtt";
  const isElsewhere = broker.mode === "external";
  return (
    <div class="connect">
      <section class="setup">
        {broker.local ? <Local broker={broker} /> : <Where text={address(broker, host)} host={host} />}
        {isElsewhere && <p>{texts.connect.external}</p>}
        <p class="quiet">{texts.connect.copyHint}</p>
        <div class="switch families" role="group" aria-label={texts.connect.copyHint}>
          {FAMILIES.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === family}
              onClick={() => replaceParameters({ for: each })}
            >
              {texts.connect.families[each]}
            </button>
          ))}
        </div>
        <Login_ broker={broker} family={family} login={login} onLogin={setLogin} />
        <Text family={family} text={setup(family, broker, host, broker.users ? (login ?? PLACEHOLDER) : null)} isTls={broker.tls} />
      </section>
      <Arriving />
    </div>
  );
}

function Where({ text, host }: { text: string; host: string }) {
  return (
    <div class="where">
      {!isLoopback(host) && <Qr text={text} label={texts.connect.qr} />}
      <div>
        <h2>{texts.connect.address}</h2>
        <p class="big">
          <code>{text}</code>
        </p>
        <Copy text={text} />
      </div>
    </div>
  );
}

/** No address that cannot work: how to open the broker instead. */
function Local({ broker }: { broker: Broker }) {
  if (broker.mode === "external") return null;
  return (
    <section class="local" aria-labelledby="local-head">
      <h2 id="local-head">{texts.connect.localTitle}</h2>
      <p>{texts.connect.local(broker.host)}</p>
      <pre>{OPENED}</pre>
      <Copy text={OPENED} />
      <p class="quiet">{texts.connect.localNext}</p>
    </section>
  );
}

interface LoginProps {
  broker: Broker;
  family: Family;
  login: Login | null;
  onLogin(login: Login | null): void;
}

function Login_({ broker, family, login, onLogin }: LoginProps) {
  if (!broker.users) return null;
  if (broker.mode === "external") return <p>{texts.connect.externalLogin}</p>;
  if (!broker.security) return <p>{texts.connect.users}</p>;
  if (!me.value?.everything) return <p>{texts.connect.loginAsk}</p>;
  return <LoginForm key={family} family={family} login={login} onLogin={onLogin} />;
}

function Text({ family, text, isTls }: { family: Family; text: string; isTls: boolean }) {
  return (
    <div class="text">
      <p>{texts.connect.where[family]}</p>
      <pre data-family={family}>{text}</pre>
      <Copy text={text} />
      {isTls && <p class="quiet">{texts.connect.ca}</p>}
    </div>
  );
}
