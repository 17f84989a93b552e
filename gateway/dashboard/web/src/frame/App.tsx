/** The frame: sidebar, the line of truth, the page; or the sign-in where nobody is in. */

import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { Problem, Skeleton } from "../parts";
import { AwayError } from "../protocol/http";
import { introduce, isIn, me } from "../protocol/session";
import { connection } from "../protocol/subscription";
import { address, go } from "../state/address";
import { timeOfDay } from "../state/format";
import { stop, watch } from "../state/streams";
import { texts } from "../texts";
import { Keys } from "./keys";
import { follow } from "./news";
import { PageOf } from "./pages";
import { Foot, Sidebar } from "./Sidebar";
import { SignIn } from "./SignIn";
import { Truth } from "./Truth";
import { UndoLine } from "./undo";
import { signal } from "@preact/signals";

const RETRY_MS = 1000;
const problem = signal("");

async function begin(): Promise<void> {
  try {
    await introduce();
    problem.value = "";
  } catch (error) {
    problem.value = (error as Error).message;
    if (error instanceof AwayError) setTimeout(() => void begin(), RETRY_MS);
  }
}

export function App() {
  useEffect(() => void begin(), []);
  if (me.value === null) {
    return (
      <main class="alone" id="main">
        {problem.value ? <Problem text={problem.value} again={() => void begin()} /> : <Skeleton />}
      </main>
    );
  }
  return isIn.value ? <Inside /> : <SignIn />;
}

function Inside() {
  useEffect(() => {
    watch();
    const unfollow = follow();
    return () => {
      unfollow();
      stop();
    };
  }, []);
  const { page } = address.value;
  useEffect(() => {
    if (page === "") go("now");
    document.title = `${texts.pages[page as keyof typeof texts.pages] ?? ""} · ${me.value?.name ?? "sosa-gateway"}`;
  }, [page]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        {texts.frame.skip}
      </a>
      <Sidebar />
      <div class="body">
        <Truth />
        <Cut />
        <Page page={page} />
        <footer>
          <Foot />
        </footer>
      </div>
      <UndoLine />
      <Keys />
    </>
  );
}

/** Where the gateway is away: what is shown is old, and how old. */
function Cut() {
  const { state, since } = connection.value;
  if (state !== "lost") return null;
  return (
    <p class="cut" role="alert">
      {texts.frame.shownFrom(timeOfDay(since))}
    </p>
  );
}

function Page({ page }: { page: string }) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // Who goes to another page by key or by voice is there, not still in the sidebar.
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus();
  }, [page]);
  return (
    <main id="main" ref={main} tabIndex={-1} data-page={page}>
      <Bounded key={page}>
        <PageOf page={page} />
      </Bounded>
    </main>
  );
}

function Bounded({ children }: { children: preact.ComponentChildren }) {
  const [error, again] = useErrorBoundary();
  if (error) return <Problem text={`${texts.frame.broken} ${(error as Error).message}`} again={again} />;
  return <>{children}</>;
}
