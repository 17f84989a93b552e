/** A login for one device: made here, its secret shown once. */

import { useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Copy, Problem } from "../../parts";
import { api } from "../../protocol/http";
import { texts } from "../../texts";
import { type Family, type Login, rights } from "./connect";

interface Props {
  family: Family;
  login: Login | null;
  onLogin(login: Login | null): void;
}

interface Made {
  client_id: string;
  client_secret: string;
}

const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export function LoginForm({ family, login, onLogin }: Props) {
  const [name, setName] = useState(family === "mosquitto" ? "test" : family);
  const usual = rights(family, name);
  const [publish, setPublish] = useState<string | null>(null);
  const [receive, setReceive] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      const made = await api.post<Made>("/clients", {
        client_id: name.trim(),
        kind: "device",
        policy: {
          publish: publish === null ? usual.publish : listed(publish),
          receive: receive === null ? usual.receive : listed(receive),
        },
      });
      onLogin({ name: made.client_id, secret: made.client_secret });
      tellDone(texts.connect.doneLogin(name), async () => {
        await api.delete(`/clients/${encodeURIComponent(made.client_id)}`);
        onLogin(null);
      });
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  if (login) {
    return (
      <section class="login" role="status">
        <h2>{texts.connect.loginTitle}</h2>
        <p>{texts.connect.made(login.name)}</p>
        <p>
          {texts.connect.secret} <code>{login.secret}</code> <Copy text={login.secret} />
        </p>
        <button type="button" class="plain" onClick={() => onLogin(null)}>
          {texts.connect.another}
        </button>
      </section>
    );
  }
  return (
    <form class="login fields" onSubmit={(event) => void make(event)}>
      <h2>{texts.connect.loginTitle}</h2>
      <p class="quiet">{texts.connect.loginHint}</p>
      <label>
        {texts.connect.name}
        <input value={name} required maxLength={256} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        {texts.connect.publishes}
        <input
          value={publish ?? usual.publish.join(" ")}
          spellcheck={false}
          onInput={(event) => setPublish(event.currentTarget.value)}
        />
      </label>
      <label>
        {texts.connect.receives}
        <input
          value={receive ?? usual.receive.join(" ")}
          spellcheck={false}
          onInput={(event) => setReceive(event.currentTarget.value)}
        />
      </label>
      <Problem text={problem} />
      <button class="main" disabled={isBusy || !name.trim()}>
        {texts.connect.make}
      </button>
    </form>
  );
}
