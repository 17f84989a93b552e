/** What the gateway keeps, as a file to be put away, and back from one. */

import { useRef, useState } from "preact/hooks";
import { Problem } from "../../parts";
import { send } from "../../protocol/http";
import { bytes } from "../../state/format";
import { texts } from "../../texts";
import { Twice } from "./Quarantine";

/** A store of some size, on a slow card or over a slow network. */
const PATIENCE_MS = 600_000;

interface Restored {
  gateway: string;
  left_out: string[];
  starts_anew: boolean;
}

export function Backup() {
  return (
    <>
      <Make />
      <Take />
    </>
  );
}

function Make() {
  const [problem, setProblem] = useState("");
  const [made, setMade] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const passphrase = String(given.get("passphrase") ?? "");
    setMade("");
    if (passphrase !== String(given.get("again") ?? "")) {
      setProblem(texts.health.backup.differ);
      return;
    }
    setBusy(true);
    try {
      const answer = await send("/backup", { method: "POST", json: { passphrase }, patienceMs: PATIENCE_MS });
      const content = await answer.blob();
      save(content, nameOf(answer));
      setMade(texts.health.backup.made(bytes(content.size), passphrase !== ""));
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <section class="add-client">
      <h2>{texts.health.backup.make}</h2>
      <p class="quiet">{texts.health.backup.what}</p>
      <form onSubmit={(event) => void submit(event)}>
        <Passphrase name="passphrase" label={texts.health.backup.passphrase} />
        <Passphrase name="again" label={texts.health.backup.again} />
        <button type="submit" class="main" disabled={isBusy}>
          {texts.health.backup.download}
        </button>
      </form>
      {made && <p role="status">{made}</p>}
      <Problem text={problem} />
    </section>
  );
}

function Take() {
  const [problem, setProblem] = useState("");
  const [restored, setRestored] = useState<Restored | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const restore = async (): Promise<void> => {
    const given = new FormData(form.current ?? undefined);
    const file = given.get("file");
    if (!(file instanceof File) || file.size === 0) {
      setProblem(texts.health.backup.choose);
      return;
    }
    setBusy(true);
    try {
      const answer = await send("/restore", {
        method: "POST",
        parameters: { replace: given.has("replace") },
        headers: { Passphrase: encodeURIComponent(String(given.get("passphrase") ?? "")) },
        body: file,
        patienceMs: PATIENCE_MS,
      });
      setRestored((await answer.json()) as Restored);
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <section class="add-client">
      <h2>{texts.health.backup.take}</h2>
      <p class="quiet">{texts.health.backup.takes}</p>
      <form ref={form} onSubmit={(event) => event.preventDefault()}>
        <label>
          {texts.health.backup.file}
          <input name="file" type="file" />
        </label>
        <Passphrase name="passphrase" label={texts.health.backup.itsPassphrase} />
        <label class="check">
          <input name="replace" type="checkbox" />
          {texts.health.backup.replace}
        </label>
        {!isBusy && <Twice text={texts.health.backup.restore} sure={texts.health.backup.sure} act={() => void restore()} />}
      </form>
      {restored && (
        <div class="secret" role="status">
          <p>{texts.health.backup.restored(restored.gateway, restored.starts_anew)}</p>
          {restored.left_out.length > 0 && (
            <p>
              {texts.health.backup.leftOut} <bdi class="told">{restored.left_out.join(", ")}</bdi>
            </p>
          )}
        </div>
      )}
      <Problem text={problem} />
    </section>
  );
}

function Passphrase({ name, label }: { name: string; label: string }) {
  return (
    <label>
      {label}
      <input name={name} type="password" autocomplete="off" maxLength={1024} />
    </label>
  );
}

/** As the gateway calls the file. */
function nameOf(answer: Response): string {
  return /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "gateway.backup";
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
