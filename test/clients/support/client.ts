import type { RawRequest, RawResponse } from '../../support/raw-http.ts';

/** Where a client finds the gateway, and how it gets there: both ways are watched. */
export interface Endpoint {
  readonly url: string;
  readonly authorization: string;
  readonly fetch: typeof fetch;
  /** For clients of other platforms: their requests byte for byte. */
  readonly send: (request: RawRequest) => Promise<RawResponse>;
}

/** An app, as one client library lets it be written: what three of its screens do. */
export interface App {
  /** The name of a project and its time zone. */
  readonly overview: (project: string) => Promise<Overview>;
  /** The names on the first two pages of a project's dashboards, two a page. */
  readonly twoPages: (project: string) => Promise<readonly (string | null | undefined)[]>;
  /** Gives a dashboard another description; answers the one it has then. */
  readonly describe: (input: DashboardDescription) => Promise<string | null | undefined>;
}

/** The data of the first screen. */
export interface Overview {
  readonly name: string | null | undefined;
  readonly timezone: string | null | undefined;
}

/** The input that describes a dashboard. */
export interface DashboardDescription {
  readonly id: string;
  readonly projectId: string;
  readonly description: string;
}

/** Sets an app up, with an empty cache. */
export type Connect = (endpoint: Endpoint) => App;

/** The result that a client gives its caller for a document: the data, or an error with a readable code. */
export type Outcome = { readonly data: unknown } | { readonly code: unknown };

/** Asks for a text by its hash, which the client makes itself unless it is given another one. */
export type AskByHash = (endpoint: Endpoint, text: string, hash?: string) => Promise<Outcome>;

/** A client library, and what it can do. What it has no way to do is left out. */
export interface Client {
  /** Its name and version, as the table in ../README.md has it. */
  readonly name: string;
  /** Sends documents as they are. */
  readonly text?: Connect;
  /** Sends texts that a manifest lists, if it has no ids. */
  readonly listedText?: Connect;
  /** Automatic persisted queries, by GET and by POST. */
  readonly automatic?: { readonly get: Connect; readonly post: Connect; readonly ask: AskByHash };
  /** Sends ids of a manifest that its own tools wrote. */
  readonly listed?: Connect;
}

/** `Overview`, as the API answers it. */
export interface OverviewData {
  readonly project: { readonly name: string | null; readonly timezone: string | null } | null;
}

/** A page of dashboards, as the API answers it. */
export interface PageData {
  readonly project: {
    readonly dashboards: {
      readonly edges: readonly ({ readonly node: { readonly name: string | null } | null } | null)[] | null;
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    } | null;
  } | null;
}

/** A dashboard that was described, as the API answers it. */
export interface DescribeData {
  readonly updateDashboard: { readonly dashboard: { readonly description: string | null } | null } | null;
}

/** An answer without a client around it. */
export interface Answer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphQLFailure[];
}

/** One error of an answer. */
export interface GraphQLFailure {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

/** The first screen, out of what the API answers. */
export function toOverview({ project }: OverviewData): Overview {
  return { name: project?.name, timezone: project?.timezone };
}

/** The names on a page. */
export function namesOf({ project }: PageData): readonly (string | null | undefined)[] {
  return project?.dashboards?.edges?.map((edge) => edge?.node?.name) ?? [];
}

/** The cursor for the page that follows; undefined if none does. */
export function nextCursorOf({ project }: PageData): string | undefined {
  const { hasNextPage, endCursor } = project?.dashboards?.pageInfo ?? { hasNextPage: false, endCursor: null };
  return hasNextPage ? (endCursor ?? undefined) : undefined;
}
