import { afterEach, describe, expect, it, vi } from "vitest";
import { api } from "./http";
import { me, signIn, signOut } from "./session";

/** A gateway that answers who is there, and anything else never; what it was asked, and what was dropped. */
function gateway() {
  const asked: string[] = [];
  const dropped: string[] = [];
  const json = (told: unknown) => new Response(JSON.stringify(told));
  vi.stubGlobal("fetch", (path: string, { signal }: { signal: AbortSignal }) => {
    asked.push(path);
    if (path === "/oauth/token") return Promise.resolve(json({ access_token: "t", expires_in: 300 }));
    if (path === "/oauth/revoke") return Promise.resolve(new Response(""));
    if (path === "/me" && asked.filter((each) => each === path).length === 1) {
      return Promise.resolve(json({ secured: true, identity: "boss", capabilities: ["operations"], everything: true }));
    }
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        dropped.push(`${path} after ${asked.at(-1)}`);
        reject(new DOMException("dropped", "AbortError"));
      });
    });
  });
  return { asked, dropped };
}

describe("signing out", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("drops what is under way before the token is void, and nobody is brought back by it", async () => {
    const { asked, dropped } = gateway();
    await signIn("boss-id", "boss-secret");
    const alarms = api.get("/alarms").catch((error: unknown) => error);
    await vi.waitFor(() => expect(asked).toContain("/alarms"));
    await signOut();
    expect(dropped).toEqual(["/alarms after /alarms"]);
    expect(asked.at(-1)).toBe("/oauth/revoke");
    expect(String(await alarms)).toContain("does not answer");
    expect(me.value?.identity).toBe(null);
    expect(me.value?.capabilities).toEqual([]);
  });
});
