import { type IdForm, isNoun, type NodeType, type Noun, nouns, ownerTypeOf } from '../rest/nouns.ts';
import { type Collection, current, isTextId, type Key } from '../rest/paths.ts';
import { quoted, UserInputError } from './input-error.ts';

/** The object that a global id names. `scope` is the id of its project or organization; empty if there is none. */
export interface NodeId {
  readonly type: NodeType;
  readonly scope: string;
  readonly id: string;
}

const integer = /^(?:0|-?[1-9]\d{0,19})$/;
/** A UUID in its 36-character form. */
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The test for each form of upstream ids, and the words for that form in messages. */
const forms: Readonly<Record<IdForm, { readonly accepts: (text: string) => boolean; readonly words: string }>> = {
  integer: { accepts: (text) => integer.test(text), words: 'an integer' },
  uuid: { accepts: (text) => uuid.test(text), words: 'a UUID' },
  text: { accepts: isTextId, words: 'a text without slashes, control characters and percent-escapes' },
};

/**
 * True if a text is an upstream id of a type in the form that the gateway writes. False for `@current`, and for the
 * UUID of an organization in upper case.
 */
export function isUpstreamId(type: NodeType, text: string): boolean {
  return formOf(type).accepts(text) && canonical(type, text) === text;
}

function formOf(type: NodeType): (typeof forms)[IdForm] {
  return forms[type === 'Organization' ? 'uuid' : nouns[type].ids];
}

/** The global id of an object: base64url of its type, scope and id. Throws for `@current`, which has none. */
export function toGlobalId({ type, scope, id }: NodeId): string {
  if (scope === current || (scope === '' && id === current))
    throw new Error(`${type} ${id} has no global id before its owner is known`);
  return Buffer.from(scope === '' ? `${type}:${id}` : `${type}:${scope}:${id}`).toString('base64url');
}

/** The object that a global id of any type names. */
export function parseGlobalId(text: string, argument: string): NodeId {
  const nodeId = decode(text);
  if (nodeId === undefined)
    throw new UserInputError(`Expected \`${argument}\` to be a global id, but got ${quoted(text)}.`);
  return nodeId;
}

/** Throws if more global ids are asked for than `maximum`. */
export function checkedIds(ids: readonly string[], maximum: number): readonly string[] {
  if (ids.length <= maximum) return ids;
  throw new UserInputError(`Expected at most ${maximum} \`ids\`, but got ${ids.length}.`);
}

/** The upstream id of a project or an organization, given as it is or as a global id; `@current` stays as it is. */
export function parseOwnerId(type: 'Project' | 'Organization', text: string, argument: string): string {
  if (text === current) return text;
  const nodeId = decode(text);
  if (nodeId?.type === type) return nodeId.id;
  if (nodeId !== undefined || !formOf(type).accepts(text)) throw malformedIdError(type, text, argument);
  return canonical(type, text);
}

/**
 * The key of an object of a project or organization, from its upstream id or its global id. In a collection below
 * `@current`, the key has the owner that the global id names. Only a read can show if `@current` is that owner.
 */
export function parseIdWithin({ noun, scope }: Collection, text: string, argument: string): Key {
  const nodeId = decode(text);
  if (nodeId === undefined) {
    if (!formOf(noun).accepts(text)) throw malformedIdError(noun, text, argument);
    return { noun, scope, id: text };
  }
  if (nodeId.type !== noun) throw malformedIdError(noun, text, argument);
  if (nodeId.scope !== scope && scope !== current) throw foreignOwnerError(noun, argument);
  return { noun, scope: nodeId.scope, id: nodeId.id };
}

/** The error for an object that belongs to another project or organization than the one given. */
export function foreignOwnerError(noun: Noun, argument: string): UserInputError {
  return new UserInputError(`The ${noun} given as \`${argument}\` belongs to another ${ownerTypeOf(noun)}.`);
}

/** True if a text is a global id. */
export function isGlobalId(text: string): boolean {
  return decode(text) !== undefined;
}

/**
 * True if an input names an object by a global id. The owner in that id is then compared with the owner that the input
 * names.
 */
export function namesGlobally(input: object): boolean {
  const ids = Object.entries(input).filter(([name]) => name === 'id' || name.endsWith('Id'));
  return ids.some(([, value]) => typeof value === 'string' && isGlobalId(value));
}

/**
 * The key of an object from its global id, for an input without an owner. Throws for an upstream id, and asks for the
 * argument `ownerArgument` beside it.
 */
export function parseGlobalKey(noun: Noun, text: string, ownerArgument: string): Key {
  const nodeId = decode(text);
  if (nodeId?.type === noun) return { noun, scope: nodeId.scope, id: nodeId.id };
  if (nodeId !== undefined) throw malformedIdError(noun, text, 'id');
  throw new UserInputError(
    `Expected \`id\` to be the global id of ${article(noun)} ${noun}, or an upstream id beside \`${ownerArgument}\`, but got ${quoted(text)}.`,
  );
}

function malformedIdError(type: NodeType, text: string, argument: string): UserInputError {
  const { words } = formOf(type);
  const form = ownerTypeOf(type) === undefined ? `${words} or ${current}` : words;
  return new UserInputError(
    `Expected \`${argument}\` to be the id of ${article(type)} ${type} (${form}, or its global id), but got ${quoted(text)}.`,
  );
}

function article(type: NodeType): 'a' | 'an' {
  return /^[AEIOU]/.test(type) ? 'an' : 'a';
}

/**
 * The first character of a global id. Base64 makes one of Q to W from the capital letter of the type name. No number or
 * UUID begins with one of these.
 */
const globalStart = /^[Q-W]/;

/** The most characters of a global id. Even the global id with the longest upstream id is shorter. */
const maximumLength = 2200;

/** Decodes a global id; undefined for other texts, such as upstream ids. Refuses an id with `@current` in it. */
function decode(text: string): NodeId | undefined {
  if (!globalStart.test(text) || text.length > maximumLength || !/^[\w-]+$/.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64url').toString('utf8');
  const [, type = '', rest = ''] = /^([A-Z][A-Za-z]+):(.+)$/s.exec(decoded) ?? [];
  // Each global id has only one accepted spelling.
  if (!isNodeType(type) || Buffer.from(decoded).toString('base64url') !== text) return undefined;
  return split(type, rest);
}

function split(type: NodeType, text: string): NodeId | undefined {
  const owner = ownerTypeOf(type);
  const colon = owner === undefined ? -1 : text.indexOf(':');
  const scope = colon === -1 ? '' : text.slice(0, colon);
  const id = text.slice(colon + 1);
  if (owner === undefined ? id === current : scope === current) {
    throw new UserInputError(
      `Expected the global id of ${article(type)} ${type} to name its own ${owner ?? type}, but got one with @current, which does not mean the same for every key. Ask for the object again.`,
    );
  }
  if (!formOf(type).accepts(id) || (owner !== undefined && !formOf(owner).accepts(scope))) return undefined;
  return owner === undefined
    ? { type, scope, id: canonical(type, id) }
    : { type, scope: canonical(owner, scope), id: canonical(type, id) };
}

/** The canonical text of an upstream id. The UUID of an organization may also be given in upper case. */
function canonical(type: NodeType, id: string): string {
  return type === 'Organization' ? id.toLowerCase() : id;
}

function isNodeType(text: string): text is NodeType {
  return text === 'Organization' || isNoun(text);
}
