/** Who may do what: listed, let in with rights of their own, removed. */

import { useState } from "preact/hooks";
import { Badge, Copy, Problem, Skeleton, Told } from "../../parts";
import { tellDone } from "../../frame/undo";
import { api } from "../../protocol/http";
import { me } from "../../protocol/session";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";
import { Twice } from "./Quarantine";
import { type Given, PRESETS, type Preset, policyOf, said } from "./rights";

interface Client {
  client_id: string;
  name: string;
  kind: string;
  state: string;
  policy: Record<string, string[]>;
}

interface Made extends Client {
  client_secret: string;
}

export function Clients() {
  const { value, problem, again } = useLoad("clients", (ends) =>
    api.get<{ clients: Client[]; next?: string }>("/clients", { limit: 1000 }, ends),
  );
  const [failure, setFailure] = useState("");
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={4} />;
  const remove = async (client: Client): Promise<void> => {
    try {
      await api.delete(`/clients/${encodeURIComponent(client.client_id)}`);
      tellDone(texts.health.removed(client.name));
      setFailure("");
    } catch (error) {
      setFailure((error as Error).message);
    }
    again();
  };
  return (
    <>
      <Problem text={failure} />
      <ul class="clients">
        {value.clients.map((client) => (
          <li key={client.client_id} data-client={client.name}>
            <span class="what">
              <Told title={client.client_id}>{client.name}</Told>
              <span class="quiet small">{texts.health.clientKinds[client.kind] ?? client.kind}</span>
            </span>
            <span class="small">
              <bdi class="told">{said(client.policy, texts.health.rights)}</bdi>
            </span>
            <span>
              {client.state !== "registered" && <Badge tone="doubt">{client.state.replace(/-/g, " ")}</Badge>}
              {client.name === me.value?.identity && <Badge>{texts.health.itsYou}</Badge>}
            </span>
            <Twice text={texts.health.remove} sure={texts.health.removeSure(client.name)} act={() => void remove(client)} />
          </li>
        ))}
      </ul>
      <Add onAdded={again} />
    </>
  );
}

function Add({ onAdded }: { onAdded(): void }) {
  const [preset, setPreset] = useState<Preset>("viewer");
  const [made, setMade] = useState<Made | null>(null);
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const name = String(given.get("name"));
    const rights: Given = { preset, topics: String(given.get("topics") ?? "") };
    try {
      const { kind, policy } = policyOf(rights);
      setMade(await api.post<Made>("/clients", { client_id: name, kind, policy }));
      setProblem("");
      form.reset();
      onAdded();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <section class="add-client">
      <h2>{texts.health.addClient}</h2>
      {made && (
        <div class="secret" role="status">
          <p>{texts.health.secretOf(made.name)}</p>
          <p>
            <code>{made.client_secret}</code> <Copy text={made.client_secret} />
          </p>
          <button type="button" onClick={() => setMade(null)}>
            {texts.health.kept}
          </button>
        </div>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <label>
          {texts.signIn.client}
          <input name="name" required maxLength={256} autocomplete="off" />
        </label>
        <label>
          {texts.health.mayDo}
          <select value={preset} onChange={(event) => setPreset(event.currentTarget.value as Preset)}>
            {PRESETS.map((each) => (
              <option key={each} value={each}>
                {texts.health.presets[each]}
              </option>
            ))}
          </select>
        </label>
        {preset === "device" && (
          <label>
            {texts.health.topics}
            <input name="topics" required placeholder="home/lamp/#" spellcheck={false} />
          </label>
        )}
        <button type="submit" class="main">
          {texts.health.letIn}
        </button>
      </form>
      <Problem text={problem} />
    </section>
  );
}
