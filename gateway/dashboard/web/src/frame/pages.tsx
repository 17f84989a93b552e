/** The pages by the first word of the address; each but the first is loaded when it is shown. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty, Problem, Skeleton } from "../parts";
import Now from "../pages/now";
import { type Capability, may } from "../protocol/session";
import { texts } from "../texts";

type Module = { default: ComponentType };

interface Entry {
  load(): Promise<Module>;
  needs?: Capability;
}

const PAGES: Record<string, Entry> = {
  now: { load: async () => ({ default: Now }) },
  devices: { load: () => import("../pages/devices"), needs: "mappings" },
  ask: { load: () => import("../pages/ask") },
  control: { load: () => import("../pages/control") },
  health: { load: () => import("../pages/health"), needs: "operations" },
  why: { load: () => import("../pages/why") },
};

const loaded = new Map<string, ComponentType>([["now", Now]]);

/** Begin to load the page of an address before it is known who asks. */
export function foresee(page: string): void {
  void PAGES[page || "now"]?.load().catch(() => undefined);
}

/** Whether who is signed in may see a page: what they may not is not offered. */
export function isOffered(page: string): boolean {
  const needs = PAGES[page]?.needs;
  return needs === undefined || may(needs);
}

export function PageOf({ page }: { page: string }) {
  const [, setTurn] = useState(0);
  const [problem, setProblem] = useState("");
  const entry = PAGES[page];
  const load = (): void => {
    setProblem("");
    entry?.load().then(
      (module) => {
        loaded.set(page, module.default);
        setTurn((turn) => turn + 1);
      },
      (error: Error) => setProblem(error.message),
    );
  };
  useEffect(() => {
    if (!loaded.has(page)) load();
  }, [page]);
  if (page === "") return <Skeleton />;
  if (!entry) return <Empty>{texts.frame.notThere}</Empty>;
  if (!isOffered(page)) return <Empty>{texts.frame.notAllowed}</Empty>;
  const Shown = loaded.get(page);
  if (problem) return <Problem text={problem} again={load} />;
  return Shown ? <Shown /> : <Skeleton />;
}
