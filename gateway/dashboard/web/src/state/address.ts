/** Where one is: `#/page/a/b?name=value`. Every state that can be sent to somebody stands there. */

import { computed, signal } from "@preact/signals";

export interface Address {
  page: string;
  path: string[];
  parameters: Record<string, string>;
}

/** `#/now/office` → page now, path ["office"]; what cannot be decoded is left as it is. */
export function parse(hash: string): Address {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").map(decoded);
  return { page, path: rest.filter((each) => each !== ""), parameters: Object.fromEntries(new URLSearchParams(search)) };
}

export function href(page: string, path: string[] = [], parameters: Record<string, string | undefined> = {}): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]);
  const search = new URLSearchParams(given).toString();
  return `#/${[page, ...path].map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const hash = signal(window.location.hash);
window.addEventListener("hashchange", () => {
  hash.value = window.location.hash;
});

export const address = computed(() => parse(hash.value));

export function go(page: string, path: string[] = [], parameters: Record<string, string | undefined> = {}): void {
  window.location.hash = href(page, path, parameters);
}

/** The same place with other parameters, without a step in the browser's history. */
export function replaceParameters(parameters: Record<string, string | undefined>): void {
  const { page, path, parameters: before } = address.peek();
  history.replaceState(null, "", href(page, path, { ...before, ...parameters }));
  hash.value = window.location.hash;
}
