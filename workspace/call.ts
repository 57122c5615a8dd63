import type { JsonObject } from './json.ts';
import type { Store } from './store.ts';
import type { EventsNext } from './switches.ts';

/** The user whose key a request has. */
export interface User {
  readonly id: number;
  readonly organization: { readonly id: string; readonly name: string };
  /** The rights of the user in the organization: 1 a member, 8 an administrator, 15 its owner. */
  readonly level: number;
  /** As in `created_by` of a dashboard. */
  readonly profile: JsonObject;
}

/** One request, authenticated, and validated against the document. */
export interface Call {
  readonly store: Store;
  readonly user: User;
  /** Absolute, as the caller sent it. */
  readonly url: URL;
  readonly params: JsonObject;
  readonly query: JsonObject;
  readonly body: JsonObject;
  /** Largest page of any list, whatever `limit` says. */
  readonly pageCap: number;
  /** Longest time that finding the events of one request may take. */
  readonly searchTimeMs: number;
  /** The parameters in the `next` of events. */
  readonly eventsNext: EventsNext;
}

/** The response. An absent body means none, and a string is CSV. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** Carries out one operation. What it throws as ApiError is what the caller is told, and undoes what it wrote. */
export type Handler = (call: Call) => Answer;

/** 200 with `body`. */
export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** 201 with `body`. */
export function created(body: unknown): Answer {
  return { status: 201, body };
}

/** 204. */
export const noContent: Answer = { status: 204 };
