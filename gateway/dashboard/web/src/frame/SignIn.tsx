/** Who are you; or, where the gateway belongs to nobody yet, the claim of it. */

import { useState } from "preact/hooks";
import { Copy, Problem } from "../parts";
import { ApiError, api } from "../protocol/http";
import { ended, introduce, me, signIn } from "../protocol/session";
import { texts } from "../texts";

interface Claimed {
  client_id: string;
  client_secret: string;
}

export function SignIn() {
  const [hasClaimed, setClaimed] = useState(false);
  const isClaim = (me.value?.claimable ?? false) || hasClaimed;
  return (
    <main class="alone" id="main" tabIndex={-1}>
      <div class="brand">
        <span aria-hidden="true">◈</span> {me.value?.name ?? "sosa-gateway"}
      </div>
      {isClaim ? <ClaimForm onClaimed={() => setClaimed(true)} /> : <SignInForm />}
    </main>
  );
}

function SignInForm() {
  const [problem, setProblem] = useState(ended.value);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    try {
      await signIn(String(given.get("client")), String(given.get("secret")));
    } catch (error) {
      setProblem(error instanceof ApiError && error.status === 401 ? texts.signIn.wrong : (error as Error).message);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <h1>{texts.signIn.title}</h1>
      <label>
        {texts.signIn.client}
        <input name="client" autocomplete="username" required autofocus />
      </label>
      <label>
        {texts.signIn.secret}
        <input name="secret" type="password" autocomplete="current-password" required />
      </label>
      <Problem text={problem} />
      <button class="main" disabled={isBusy}>
        {texts.signIn.go}
      </button>
    </form>
  );
}

function ClaimForm({ onClaimed }: { onClaimed(): void }) {
  const [problem, setProblem] = useState("");
  const [claimed, setClaimed] = useState<Claimed | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    try {
      const told = await api.post<Claimed>("/claim", { code: String(given.get("code")), client: String(given.get("client")) });
      onClaimed();
      setClaimed(told);
    } catch (error) {
      setProblem((error as Error).message);
      // Somebody else was faster: from now on one signs in.
      if (error instanceof ApiError && error.status === 409) await introduce();
    }
  };
  if (claimed) {
    return (
      <section>
        <h1>{texts.signIn.claimed}</h1>
        <label>
          {texts.signIn.client}
          <input readOnly value={claimed.client_id} />
        </label>
        <label>
          {texts.signIn.secret}
          <input readOnly value={claimed.client_secret} />
        </label>
        <Copy text={claimed.client_secret} />
        <Problem text={problem} />
        <button
          type="button"
          class="main"
          onClick={() => void signIn(claimed.client_id, claimed.client_secret).catch((error: Error) => setProblem(error.message))}
        >
          {texts.signIn.goOn}
        </button>
      </section>
    );
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <h1>{texts.signIn.claimTitle}</h1>
      <p class="quiet">{texts.signIn.claimHow}</p>
      <label>
        {texts.signIn.code}
        <input name="code" autocomplete="one-time-code" required autofocus spellcheck={false} />
      </label>
      <label>
        {texts.signIn.yourName}
        <input name="client" autocomplete="username" required maxLength={64} />
      </label>
      <Problem text={problem} />
      <button class="main">{texts.signIn.claim}</button>
    </form>
  );
}
