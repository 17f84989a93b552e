/** Requests to the gateway that serves the page: JSON and SPARQL, with the token of who is signed in. */

import { signal } from "@preact/signals";

const PATIENCE_MS = 30_000;

/** What the gateway answered instead: its error object (docs/errors.md). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** No answer at all: the gateway is away, or too slow. */
export class AwayError extends Error {}

type Token = () => Promise<string | null>;
export type Parameters = Record<string, string | number | boolean | undefined>;

let token: Token = async () => null;

/** How many times the gateway said that it does not know us any more; the session looks after it. */
export const refused = signal(0);

/** What has been asked and not been answered. */
const underWay = new Set<AbortController>();

/** By `session`: drop what is under way; who asked it is told as of a gateway that is away. */
export function hangUp(): void {
  for (const each of underWay) each.abort();
}

/** By `session`: where tokens come from. */
export function authorizeBy(source: Token): void {
  token = source;
}

export interface Request {
  method?: string;
  parameters?: Parameters | undefined;
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  patienceMs?: number;
}

/** The answer, whatever its status below 400 is. Raises ApiError and AwayError. */
export async function send(path: string, request: Request = {}): Promise<Response> {
  const ends = new AbortController();
  underWay.add(ends);
  try {
    return await answered(path, request, ends.signal);
  } finally {
    underWay.delete(ends);
  }
}

async function answered(path: string, request: Request, ends: AbortSignal): Promise<Response> {
  const headers = new Headers(request.headers);
  // The request for a token has credentials instead.
  const bearer = headers.has("Authorization") ? null : await token();
  if (bearer !== null) headers.set("Authorization", `Bearer ${bearer}`);
  if (request.json !== undefined) headers.set("Content-Type", "application/json");
  const limits = [ends, AbortSignal.timeout(request.patienceMs ?? PATIENCE_MS)];
  if (request.signal) limits.push(request.signal);
  let answer: Response;
  try {
    answer = await fetch(path + search(request.parameters), {
      method: request.method ?? "GET",
      headers,
      body: request.json !== undefined ? JSON.stringify(request.json) : (request.body ?? null),
      signal: either(limits),
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new AwayError("the gateway does not answer");
  }
  if (answer.status >= 400) throw await failure(answer);
  return answer;
}

async function failure(answer: Response): Promise<ApiError> {
  if (answer.status === 401) refused.value += 1;
  const text = await answer.text().catch(() => "");
  try {
    const told = JSON.parse(text) as { error?: string; error_description?: string };
    return new ApiError(answer.status, told.error ?? "", told.error_description ?? text);
  } catch {
    return new ApiError(answer.status, "", text || answer.statusText);
  }
}

function search(parameters: Parameters | undefined): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value !== undefined) given.set(name, String(value));
  }
  const text = given.toString();
  return text && `?${text}`;
}

/** AbortSignal.any, which browsers of 2023 lack. */
function either(signals: AbortSignal[]): AbortSignal {
  const both = new AbortController();
  for (const each of signals) {
    if (each.aborted) both.abort(each.reason);
    else each.addEventListener("abort", () => both.abort(each.reason), { once: true });
  }
  return both.signal;
}

async function json<T>(path: string, request: Request): Promise<T> {
  const answer = await send(path, request);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const api = {
  get: <T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> =>
    json<T>(path, signal ? { parameters, signal } : { parameters }),
  post: <T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> =>
    json<T>(path, { method: "POST", json: body ?? {}, ...(signal ? { signal } : {}) }),
  put: <T>(path: string, body: unknown): Promise<T> => json<T>(path, { method: "PUT", json: body }),
  delete: <T = void>(path: string): Promise<T> => json<T>(path, { method: "DELETE" }),
};
