/** Who is signed in: kept in memory alone, so that closing the page is signing out. */

import { computed, effect, signal } from "@preact/signals";
import { ApiError, AwayError, api, authorizeBy, hangUp, refused, send } from "./http";
import { Subscriptions } from "./subscription";

export type Capability = "mappings" | "command" | "operations" | "federate" | "system";

export interface Me {
  secured: boolean;
  identity: string | null;
  capabilities: Capability[];
  everything: boolean;
  claimable: boolean;
  /** Those of the federation, this one among them; none where there is none, or for who may not ask them. */
  gateways: string[];
  /** Rights in the words of `client add`, by kind; there with an identity. */
  policy?: Record<string, string[]>;
  version: string;
  name: string;
}

interface Credentials {
  id: string;
  secret: string;
}

interface Granted {
  access_token: string;
  expires_in: number;
}

/** A token is renewed so long before its end, or when half of its time is over. */
const EARLY_MS = 20_000;

let credentials: Credentials | null = null;
let granted: { token: string; renewed: number } | null = null;
let asking: Promise<string | null> | null = null;

/** null until the gateway has said who asks. */
export const me = signal<Me | null>(null);
/** Why nobody is signed in any more, as the gateway said it. */
export const ended = signal("");

/** Whether there is anybody to show data to. */
export const isIn = computed(() => me.value !== null && (!me.value.secured || me.value.identity !== null));

export function may(capability: Capability): boolean {
  return me.value?.capabilities.includes(capability) ?? false;
}

/** A token that holds for the next seconds; null where nobody is asked who they are. */
async function token(fresh = false): Promise<string | null> {
  if (!credentials) return null;
  if (!fresh && granted && granted.renewed > Date.now()) return granted.token;
  asking ??= grant(credentials).finally(() => {
    asking = null;
  });
  return asking;
}

async function grant({ id, secret }: Credentials): Promise<string> {
  const answer = await send("/oauth/token", {
    method: "POST",
    headers: { Authorization: `Basic ${base64(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  const told = (await answer.json()) as Granted;
  const lasting = told.expires_in * 1000;
  granted = { token: told.access_token, renewed: Date.now() + lasting - Math.min(EARLY_MS, lasting / 2) };
  return granted.token;
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Ask who we are. Raises AwayError where the gateway is away. */
export async function introduce(): Promise<void> {
  me.value = await api.get<Me>("/me");
}

/** Raises ApiError with 401 for what is not right, 429 where that was tried too often. */
export async function signIn(id: string, secret: string): Promise<void> {
  credentials = { id, secret };
  granted = null;
  try {
    await introduce();
    ended.value = "";
    subscriptions.restart();
  } catch (error) {
    credentials = null;
    throw error;
  }
}

/** Whoever leaves is gone at once: what was asked for them would be refused as soon as the token is void. */
export async function signOut(): Promise<void> {
  const last = granted?.token;
  leave("");
  if (last) {
    await send("/oauth/revoke", { method: "POST", body: new URLSearchParams({ token: last }) }).catch(() => undefined);
  }
}

function leave(why: string): void {
  credentials = null;
  granted = null;
  ended.value = why;
  subscriptions.close();
  hangUp();
  if (me.value) me.value = { ...me.value, identity: null, capabilities: [], everything: false };
}

authorizeBy(() => token());

/** All subscriptions of the page. */
export const subscriptions = new Subscriptions(token);

// A 401 may be about an old token: a new one is tried before anybody is sent away.
effect(() => {
  if (refused.value === 0 || !credentials || !isIn.peek()) return;
  granted = null;
  void introduce().catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) leave(error.message);
    else if (!(error instanceof AwayError)) throw error;
  });
});
