import type { Collection, Key, Kind } from '../rest/paths.ts';
import { quoted, UserInputError } from './input-error.ts';

/** The types that a global id can name. */
export type NodeType = Kind | 'Organization';

/** What a global id names: `scope` is the id of the owning project or organization, empty where there is none. */
export interface NodeId {
  readonly type: NodeType;
  readonly scope: string;
  readonly id: string;
}

/** The project or organization that the key's user has open; the REST API resolves it. */
export const current = '@current';

const integer = /^(?:0|[1-9]\d{0,19})$/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Unreserved in a URL, so that an id is its own path segment. */
const eventId = /^(?!\.{1,2}$)[\w.~:-]{1,200}$/;

const projectForm = {
  accepts: (text: string) => integer.test(text) || text === current,
  form: 'an integer or @current',
};
const integerForm = { accepts: (text: string) => integer.test(text), form: 'an integer' };

const forms: Record<NodeType, { readonly accepts: (text: string) => boolean; readonly form: string }> = {
  Project: projectForm,
  Dashboard: integerForm,
  Plugin: integerForm,
  // `events/values/` is another endpoint.
  Event: { accepts: (text) => eventId.test(text) && text !== 'values', form: 'letters, digits and -._~:' },
  Organization: { accepts: (text) => uuid.test(text) || text === current, form: 'a UUID or @current' },
};

const scopeTypes: Record<NodeType, 'Project' | 'Organization' | undefined> = {
  Project: undefined,
  Organization: undefined,
  Dashboard: 'Project',
  Event: 'Project',
  Plugin: 'Organization',
};

/** The global id of an object: base64url of type, scope and key. */
export function toGlobalId({ type, scope, id }: NodeId): string {
  return Buffer.from(scope === '' ? `${type}:${id}` : `${type}:${scope}:${id}`).toString('base64url');
}

/** Reads a global id of any type. */
export function parseGlobalId(text: string, argument: string): NodeId {
  const nodeId = decode(text);
  if (nodeId === undefined)
    throw new UserInputError(`Expected \`${argument}\` to be a global id, but got ${quoted(text)}.`);
  return nodeId;
}

/** Global ids that are asked for at once. Refuses more than the maximum. */
export function checkedIds(ids: readonly string[], maximum: number): readonly string[] {
  if (ids.length <= maximum) return ids;
  throw new UserInputError(`Expected at most ${maximum} \`ids\`, but got ${ids.length}.`);
}

/** The upstream id of a project or an organization, given as it is or as a global id. */
export function parseOwnerId(type: 'Project' | 'Organization', text: string, argument: string): string {
  const nodeId = decode(text);
  if (nodeId?.type === type) return nodeId.id;
  if (nodeId !== undefined || !forms[type].accepts(text)) throw malformed(type, text, argument);
  return text;
}

/** The key of an object of a known project or organization, from its upstream id or its global id. */
export function parseIdWithin({ kind, scope }: Collection, text: string, argument: string): Key {
  const nodeId = decode(text);
  if (nodeId === undefined) {
    if (!forms[kind].accepts(text)) throw malformed(kind, text, argument);
    return { kind, scope, id: text };
  }
  if (nodeId.type !== kind) throw malformed(kind, text, argument);
  if (!sameScope(nodeId.scope, scope)) {
    throw new UserInputError(`The ${kind} given as \`${argument}\` belongs to another ${scopeTypes[kind]}.`);
  }
  return { kind, scope, id: nodeId.id };
}

/** The key of an object from its global id, or from its upstream id beside the id of its owner. */
export function parseIdWithOwner(
  kind: Kind,
  text: string,
  ownerText: string | null | undefined,
  ownerArgument: string,
): Key {
  const owner = scopeTypes[kind];
  if (owner === undefined) return { kind, scope: '', id: parseOwnerId('Project', text, 'id') };
  if (ownerText !== null && ownerText !== undefined) {
    return parseIdWithin({ kind, scope: parseOwnerId(owner, ownerText, ownerArgument) }, text, 'id');
  }
  const nodeId = decode(text);
  if (nodeId?.type === kind) return { kind, scope: nodeId.scope, id: nodeId.id };
  if (nodeId !== undefined) throw malformed(kind, text, 'id');
  throw new UserInputError(
    `Expected \`id\` to be the global id of ${article(kind)} ${kind}, or an upstream id beside \`${ownerArgument}\`, but got ${quoted(text)}.`,
  );
}

/** An id that refers to an object whose owner is not known to the gateway: the upstream id, whichever form was given. */
export function parseReference(kind: Kind, text: string, argument: string): string {
  const nodeId = decode(text);
  if (nodeId?.type === kind) return nodeId.id;
  if (nodeId !== undefined || !forms[kind].accepts(text)) throw malformed(kind, text, argument);
  return text;
}

function sameScope(one: string, other: string): boolean {
  return one === other || one === current || other === current;
}

function malformed(type: NodeType, text: string, argument: string): UserInputError {
  return new UserInputError(
    `Expected \`${argument}\` to be the id of ${article(type)} ${type} (${forms[type].form}, or its global id), but got ${quoted(text)}.`,
  );
}

function article(type: NodeType): 'a' | 'an' {
  return /^[EO]/.test(type) ? 'an' : 'a';
}

/** What a name of a type begins with (D, E, O or P) in base64; no upstream id that is a number or a UUID does. */
const globalStart = /^[RTU]/;

/** A global id in its one canonical spelling; undefined for everything else, upstream ids among it. */
function decode(text: string): NodeId | undefined {
  if (!globalStart.test(text) || text.length > 700 || !/^[\w-]+$/.test(text)) return undefined;
  const [, type = '', ...rest] =
    /^([A-Z][A-Za-z]+):(.+)$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (!isNodeType(type)) return undefined;
  const nodeId = split(type, rest.join(':'));
  return nodeId !== undefined && toGlobalId(nodeId) === text ? nodeId : undefined;
}

function split(type: NodeType, text: string): NodeId | undefined {
  const owner = scopeTypes[type];
  const colon = owner === undefined ? -1 : text.indexOf(':');
  const scope = colon === -1 ? '' : text.slice(0, colon);
  const id = text.slice(colon + 1);
  const valid = forms[type].accepts(id) && (owner === undefined || forms[owner].accepts(scope));
  return valid ? { type, scope, id } : undefined;
}

function isNodeType(text: string): text is NodeType {
  return Object.hasOwn(forms, text);
}
