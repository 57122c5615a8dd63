import {
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { requestColumns } from '../rest/generated/views.ts';
import { exactNumber } from '../rest/json.ts';
import { type Noun, owners, ownerTypeOf } from '../rest/nouns.ts';
import { current, type Key, keyText } from '../rest/paths.ts';
import { type Reach, reaches } from '../rest/reach.ts';
import { isObject, type JsonObject } from '../rest/values.ts';
import { enumRestValue } from './enums.ts';
import { isRowType, mappingOf, restNameOf, snakeCase } from './field-mapping.ts';
import { isGlobalId, parseGlobalKey, parseIdWithin, parseOwnerId } from './ids.ts';
import { quoted, UserInputError } from './input-error.ts';
import { outOfReachError, refuseCurrent, refuseUnknownOwner } from './reach-refusals.ts';

/** The mutation that an input belongs to. */
type MutationInfo = Pick<GraphQLResolveInfo, 'parentType' | 'fieldName'>;

function inputFieldsOf({ parentType, fieldName }: MutationInfo): Readonly<Record<string, GraphQLInputField>> {
  const type = parentType.getFields()[fieldName]?.args.find(({ name }) => name === 'input')?.type;
  const named = type === undefined ? undefined : getNullableType(type);
  return isInputObjectType(named) ? named.getFields() : {};
}

/** The input field that names the owning project or organization of a noun; `id` if the noun is a project. */
export function ownerArgumentOf(noun: Noun): string {
  const type = ownerTypeOf(noun);
  return type === undefined ? 'id' : owners[type].argument;
}

/** A member of an input; undefined if it is not a text. */
export function textIn(input: object, name: string): string | undefined {
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : undefined;
}

/** The object that an input changes or makes. */
export interface WriteTarget {
  readonly noun: Noun;
  readonly isNew: boolean;
  readonly input: object;
}

/**
 * The key of the object that an input changes or makes, in the project or organization that `owner` names. Throws a
 * UserInputError if an id does not fit.
 */
function targetKey({ noun, isNew, input }: WriteTarget, owner: string | undefined): Key {
  const type = ownerTypeOf(noun);
  if (type === undefined) return { noun, scope: '', id: isNew ? '' : parseOwnerId('Project', owner ?? '', 'id') };
  const { argument } = owners[type];
  const id = textIn(input, 'id') ?? '';
  if (!isNew && owner === undefined) return parseGlobalKey(noun, id, argument);
  const scope = parseOwnerId(type, owner ?? '', argument);
  return isNew ? { noun, scope, id: '' } : parseIdWithin({ noun, scope }, id, 'id');
}

/** Input fields that become no member of the body: the ids of the object and of its owner, and `extra`. */
const notInBody: ReadonlySet<string> = new Set(['id', 'projectId', 'organizationId', 'extra']);

/** A write that may be sent: its key and its body. For a new object, the id in the key is empty. */
export interface CheckedWrite {
  readonly key: Key;
  readonly body: JsonObject;
  /**
   * The objects to read before the write is sent, if the caller's reach is limited. Global ids are not signed, so only
   * the upstream can show that an object is in the project that its id names.
   */
  readonly keysToRead: readonly Key[];
}

/** The write that an input asks for, in the project or organization `owner`. Throws if it may not be sent. */
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
  if (!reaches(reach, key)) throw outOfReachError();
  return { key, body, keysToRead: reach === undefined ? [] : keysToRead(key, named) };
}

/**
 * The dashboards that the body names and, if it names any, the changed object. The hosted service looks for both
 * dashboards of a moved tile by their ids alone, not within a project. A changed project is not read, because its id
 * already shows if it is within reach.
 */
function keysToRead(key: Key, named: readonly Key[]): readonly Key[] {
  const isEnough = named.length === 0 || key.id === '' || ownerTypeOf(key.noun) === undefined;
  const keys = isEnough ? named : [key, ...named];
  return [...new Map(keys.map((one) => [keyText(one), one])).values()];
}

function projectIdOf({ noun, scope, id }: Key): string | undefined {
  if (noun === 'Project') return id === '' ? undefined : id;
  return ownerTypeOf(noun) === 'Project' ? scope : undefined;
}

interface BodyContext {
  /** The project whose dashboards the input may refer to, if it is known. */
  readonly projectId?: string | undefined;
  readonly reach: Reach | undefined;
  /** Receives the key of every dashboard that the body names. */
  readonly named: Key[];
}

/**
 * The request body of a mutation: the given fields of the input under their REST names, and the members of `extra`. For
 * a caller with limited reach, everything that might name an object of another project is refused.
 */
function toRequestBody(input: object, info: MutationInfo, context: BodyContext): JsonObject {
  const fields = inputFieldsOf(info);
  const extra = 'extra' in input ? extraEntries(input.extra, info) : [];
  if (extra.length > 0) refuseUnknownOwner(context.reach, 'extra', '');
  if ('deletedFiles' in fields) return filesBody(input, context.reach);
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    const field = fields[name];
    if (field === undefined || notInBody.has(name) || value === undefined) continue;
    entries.push(entryOf(restNameOf(field), toRestValue(field, value, context)));
  }
  // `fromEntries` keeps a member that is named `__proto__`. An assignment to `__proto__` would add no member.
  return Object.fromEntries([...entries, ...extra]);
}

/** A member of the body. A REST name such as `tile.id` becomes a member within a member. */
function entryOf(restName: string, value: unknown): [string, unknown] {
  const [name = restName, inner] = restName.split('.');
  return [name, inner === undefined ? value : { [inner]: value }];
}

function toRestValue(field: GraphQLInputField, value: unknown, context: BodyContext): unknown {
  if (value === null) return null;
  const type = getNamedType(field.type);
  if (type.name !== 'ID' && !isEnumType(type)) return value;
  const text = typeof value === 'string' ? value : '';
  if (isEnumType(type)) return enumRestValue(type.name, text) ?? refuseUnknown(field.name);
  // The upstream looks for the tile in the dashboard that the path names.
  if (field.name === 'tileId') return exactNumber(checkedTileId(text));
  return exactNumber(referredId(field, text, context));
}

function referredId({ name }: GraphQLInputField, text: string, { projectId, reach, named }: BodyContext): string {
  if (!isGlobalId(text)) refuseUnknownOwner(reach, name, ' but with a global id, which names its project');
  if (projectId === undefined) refuseUnknownOwner(reach, name, '');
  // A new project has no dashboards of its own. So it may name any dashboard, and only the upstream can refuse that.
  const key = parseIdWithin({ noun: 'Dashboard', scope: projectId ?? current }, text, name);
  named.push(key);
  return key.id;
}

function refuseUnknown(name: string): never {
  throw new UserInputError(`Expected \`${name}\` to be a value that the upstream knows, but got UNKNOWN.`);
}

/** A checked id of a tile. Tiles have no global ids, because no operation reads a tile by its id. */
function checkedTileId(text: string): string {
  if (/^(?:0|[1-9]\d{0,19})$/.test(text)) return text;
  throw new UserInputError(`Expected \`tileId\` to be the id of a tile (an integer), but got ${quoted(text)}.`);
}

/** The files of a change of source code by their names. Null deletes a file. */
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

/** The most files that one change writes or deletes. */
export const mostFiles = 1000;

const longestFileName = 200;

/**
 * A file name with an extension, perhaps in folders. Because of its dot, it cannot be the name of a column, or of a
 * built-in member of JavaScript's objects.
 */
const fileName = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.[a-z]\w*$/i;

/**
 * Returns a file name that has an extension; throws otherwise. The upstream could take a name without an extension for
 * a column of the body.
 */
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

/**
 * The members of a mutation's `extra`, which is for members that the OpenAPI document does not have. Values in `extra`
 * are not checked. Names that are checked elsewhere are refused, so that nothing gets around that check: the noun's
 * columns, and the input fields of all its mutations, in camelCase and in snake_case.
 */
function extraEntries(extra: unknown, info: MutationInfo): [string, unknown][] {
  if (extra === null || extra === undefined) return [];
  if (!isObject(extra)) throw new UserInputError(`Expected \`extra\` to be a JSON object, but got ${quoted(extra)}.`);
  const entries = Object.entries(extra);
  const noun = nounOf(info);
  const setters = settersOf(noun, info);
  const columns = columnsOf(noun);
  const { files } = inputFieldsOf(info);
  for (const [name] of entries) {
    const text = snakeCase(name);
    const known = setters.get(text) ?? [];
    const isKnown = known.length > 0 || columns.has(text);
    // A mutation with the input field `files` changes source code. The upstream takes each member of its body for a
    // file, unless the member is a column.
    const own = isKnown ? known.find(({ fieldName }) => fieldName === info.fieldName)?.field : files;
    if (own !== undefined)
      throw new UserInputError(`Expected ${quoted(name)} in the input field \`${own.name}\`, but got it in \`extra\`.`);
    if (!isKnown) continue;
    const names = [...new Set(known.map(({ fieldName }) => `\`${fieldName}\``))].join(', ');
    const reason = names === '' ? 'the upstream alone sets it' : `it is set by ${names}`;
    throw new UserInputError(
      `Expected \`extra\` to hold what \`${info.fieldName}\` sets, but got ${quoted(name)}: ${reason}.`,
    );
  }
  return entries;
}

/** A mutation, and a field of its input. */
interface Setter {
  readonly fieldName: string;
  readonly field: GraphQLInputField;
}

/** The input fields that set each member of a noun's body, by the member's name in snake_case. */
function settersOf(noun: GraphQLObjectType | undefined, { parentType }: MutationInfo): Map<string, Setter[]> {
  const setters = new Map<string, Setter[]>();
  for (const fieldName of Object.keys(parentType.getFields())) {
    if (nounOf({ parentType, fieldName }) !== noun) continue;
    for (const field of Object.values(inputFieldsOf({ parentType, fieldName }))) {
      if (field.name === 'extra') continue;
      const [restName = ''] = restNameOf(field).split('.');
      for (const name of new Set([snakeCase(restName), snakeCase(field.name)]))
        setters.set(name, [...(setters.get(name) ?? []), { fieldName, field }]);
    }
  }
  return setters;
}

/** The names by which `extra` could set a column of a noun, in snake_case. */
function columnsOf(noun: GraphQLObjectType | undefined): ReadonlySet<string> {
  if (noun === undefined) return new Set();
  const requests: Readonly<Record<string, readonly string[]>> = requestColumns;
  const columns = Object.values(noun.getFields()).flatMap((field) => {
    const { column } = mappingOf(field);
    if (column === undefined) return field.name === 'upstreamId' ? [field.name] : [];
    return [column, field.name];
  });
  return new Set([...columns, ...(requests[noun.name] ?? [])].map(snakeCase));
}

/** The type of the rows in the payload of a mutation. */
function nounOf({ parentType, fieldName }: MutationInfo): GraphQLObjectType | undefined {
  const field = parentType.getFields()[fieldName];
  const payload = field && getNamedType(field.type);
  if (!isObjectType(payload)) return undefined;
  const types = Object.values(payload.getFields()).map(({ type }) => getNamedType(type));
  return types.filter(isObjectType).find((type) => isRowType(type.name));
}
