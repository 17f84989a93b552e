/** What is asked once, and again: an answer of the JSON interface for a component. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  value: T | undefined;
  problem: string;
  again(): void;
}

/** Ask when the component is shown, when `key` changes, and each `everyMs`; null asks nothing. */
export function useLoad<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, everyMs = 0): Loaded<T> {
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    setValue(undefined);
    setProblem("");
  }, [key]);
  useEffect(() => {
    if (key === null) return undefined;
    const ends = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async (): Promise<void> => {
      try {
        const told = await asking.current(ends.signal);
        if (ends.signal.aborted) return;
        setValue(told);
        setProblem("");
      } catch (error) {
        if (ends.signal.aborted) return;
        setProblem((error as Error).message);
      }
      if (everyMs > 0) timer = setTimeout(() => void once(), everyMs);
    };
    void once();
    return () => {
      ends.abort();
      clearTimeout(timer);
    };
  }, [key, turn, everyMs]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  return { value, problem, again };
}

export interface Action {
  isBusy: boolean;
  problem: string;
  /** Do it; what goes wrong is `problem`. */
  once(action: () => Promise<void>): Promise<void>;
}

/** Something that a person has done: one at a time, with what went wrong. */
export function useAction(): Action {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const once = async (action: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      await action();
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return { isBusy, problem, once };
}
