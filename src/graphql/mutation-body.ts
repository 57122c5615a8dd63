import { type GraphQLInputField, getNamedType, isEnumType } from 'graphql';
import { exactNumber } from '../rest/json.ts';
import { ownerTypeOf } from '../rest/nouns.ts';
import { type Key, keyText } from '../rest/paths.ts';
import type { Reach } from '../rest/tenants.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { enumRestValue } from './enums.ts';
import { extraEntries } from './extra-entries.ts';
import { restNameOf } from './field-mapping.ts';
import { isGlobalId, parseIdWithin, parseReference } from './ids.ts';
import { quoted, UserInputError } from './input-error.ts';
import { inputFieldsOf, type MutationInfo, ownerArgumentOf, targetKey, type WriteTarget } from './mutation-inputs.ts';
import { refuseCurrent, refuseOutside, refuseUnknownOwner } from './narrowing.ts';

/** Input fields that address the object or carry what has no field; all others are body fields. */
const notInBody: ReadonlySet<string> = new Set(['id', 'projectId', 'organizationId', 'extra']);

/** A write that may be sent: its key, of which the id is empty for a new object, and its body. */
export interface CheckedWrite {
  readonly key: Key;
  readonly body: JsonObject;
  /**
   * The objects that have to be read before the write is sent, each once; empty if the tenant is not narrowed. Global ids
   * are not signed, so only the upstream can show that an object is in the project that its id names.
   */
  readonly toShow: readonly Key[];
}

/**
 * The write that an input asks for, in the project or organization that `owner` names. Throws a UserInputError or a
 * ForbiddenError if it may not be sent.
 */
export function checkedWrite(
  target: WriteTarget,
  owner: string | undefined,
  info: MutationInfo,
  reach: Reach | undefined,
): CheckedWrite {
  refuseCurrent(reach, owner, ownerArgumentOf(target.noun));
  const key = targetKey(target, owner);
  const named: Key[] = [];
  const body = toRequestBody(target.input, info, { projectId: projectIdOf(key), reach, named });
  refuseOutside(reach, key);
  return { key, body, toShow: reach === undefined ? [] : toShow(key, named) };
}

/**
 * The keys of the objects that the body names, and that of the changed object if there are any. The hosted service
 * looks for both dashboards of a moved tile by their ids alone. Ids of projects already show if they are within reach.
 */
function toShow(key: Key, named: readonly Key[]): readonly Key[] {
  const isShown = named.length === 0 || key.id === '' || ownerTypeOf(key.noun) === undefined;
  const keys = isShown ? named : [key, ...named];
  return [...new Map(keys.map((one) => [keyText(one), one])).values()];
}

/** The project of an object, if it has one and it is known. */
function projectIdOf({ noun, scope, id }: Key): string | undefined {
  if (noun === 'Project') return id === '' ? undefined : id;
  return ownerTypeOf(noun) === 'Project' ? scope : undefined;
}

/** The scope of the ids in a body. */
interface BodyScope {
  /** The project whose dashboards the input may refer to, if it is known. */
  readonly projectId?: string | undefined;
  /** The reach of the tenant, if it is narrowed. */
  readonly reach: Reach | undefined;
  /** Takes every key that a tenant's body names. */
  readonly named: Key[];
}

/**
 * The request body of a mutation: the given fields of the input under their REST names, null as null, and then the
 * members of `extra`. For a narrowed tenant, everything that might name an object of another project is refused.
 */
function toRequestBody(input: object, info: MutationInfo, scope: BodyScope): JsonObject {
  const fields = inputFieldsOf(info);
  const extra = 'extra' in input ? extraEntries(input.extra, info) : [];
  if (extra.length > 0) refuseUnknownOwner(scope.reach, 'extra', '');
  if ('deletedFiles' in fields) return filesBody(input, scope.reach);
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    const field = fields[name];
    if (field === undefined || notInBody.has(name) || value === undefined) continue;
    entries.push(entryOf(restNameOf(field), toRestValue(field, value, scope)));
  }
  // `fromEntries` defines own properties, so that a member named `__proto__` stays one.
  return Object.fromEntries([...entries, ...extra]);
}

/** A REST name such as `tile.id` is a member within a member. */
function entryOf(restName: string, value: unknown): [string, unknown] {
  const [name = restName, inner] = restName.split('.');
  return [name, inner === undefined ? value : { [inner]: value }];
}

function toRestValue(field: GraphQLInputField, value: unknown, scope: BodyScope): unknown {
  if (value === null) return null;
  const type = getNamedType(field.type);
  if (type.name !== 'ID' && !isEnumType(type)) return value;
  const text = typeof value === 'string' ? value : '';
  if (isEnumType(type)) return enumRestValue(type.name, text) ?? refuseUnknown(field.name);
  // The upstream looks for it in the dashboard that the path names.
  if (field.name === 'tileId') return exactNumber(checkedTileId(text));
  return exactNumber(referredId(field, text, scope));
}

/** The upstream id of a dashboard that a body names. */
function referredId({ name }: GraphQLInputField, text: string, { projectId, reach, named }: BodyScope): string {
  if (!isGlobalId(text)) refuseUnknownOwner(reach, name, ' but with a global id, which names its project');
  if (projectId === undefined) {
    refuseUnknownOwner(reach, name, '');
    return parseReference('Dashboard', text, name);
  }
  const key = parseIdWithin({ noun: 'Dashboard', scope: projectId }, text, name);
  named.push(key);
  return key.id;
}

function refuseUnknown(name: string): never {
  throw new UserInputError(`Expected \`${name}\` to be a value that the upstream knows, but got UNKNOWN.`);
}

/** Tiles have no global ids: nothing reads one by its id. */
function checkedTileId(text: string): string {
  if (/^(?:0|[1-9]\d{0,19})$/.test(text)) return text;
  throw new UserInputError(`Expected \`tileId\` to be the id of a tile (an integer), but got ${quoted(text)}.`);
}

/** The body of a change of source code: the files by their names. Null deletes a file. */
function filesBody(input: object, reach: Reach | undefined): JsonObject {
  const count = listIn(input, 'files').length + listIn(input, 'deletedFiles').length;
  if (count > mostFiles) throw new UserInputError(`Expected at most ${mostFiles} files, but got ${count}.`);
  const written = listIn(input, 'files').map((file): [string, unknown] =>
    isObject(file) ? [checkedFileName(file['name'], 'files', reach), file['text']] : ['', null],
  );
  const deleted = listIn(input, 'deletedFiles').map((name): [string, unknown] => [
    checkedFileName(name, 'deletedFiles', reach),
    null,
  ]);
  const entries = [...written, ...deleted];
  if (entries.length === 0) throw new UserInputError('Expected a file in `files` or `deletedFiles`, but got none.');
  const names = new Set<string>();
  for (const [name] of entries) {
    if (names.has(name))
      throw new UserInputError(
        `Expected each name once in \`files\` and \`deletedFiles\`, but got ${quoted(name)} twice.`,
      );
    names.add(name);
  }
  return Object.fromEntries(entries);
}

/** Most files that one change writes or deletes: each of them is checked before the call. */
export const mostFiles = 1000;

/** The longest name of a file, in characters. */
const longestFileName = 200;

/** A name with an extension, perhaps below folders. No column and no member of JavaScript's objects has a dot in its name. */
const fileName = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.[a-z]\w*$/i;

/** Checks a file name. It needs an extension: the body also has columns, and the upstream could mistake the two. */
function checkedFileName(name: unknown, field: string, reach: Reach | undefined): string {
  if (typeof name === 'string' && name.length <= longestFileName && fileName.test(name)) return name;
  refuseUnknownOwner(reach, field, ' but for files with an extension, such as index.ts');
  throw new UserInputError(
    `Expected \`${field}\` to name files with an extension, such as index.ts, but got ${quoted(name)}.`,
  );
}

function listIn(input: object, name: string): readonly unknown[] {
  const list: unknown = Reflect.get(input, name);
  return Array.isArray(list) ? list : [];
}
