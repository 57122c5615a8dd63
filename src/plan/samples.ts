import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLString,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { toGlobalId } from '../graphql/ids.ts';
import { current } from '../rest/paths.ts';
import type { Reach } from '../rest/reach.ts';

function uuidOf(number: number): string {
  return `018f3c5e-7a31-7c11-9d2b-${`${number}`.padStart(12, '0')}`;
}

interface Sampling {
  /** The largest page size. */
  readonly many: number;
  /** Ids are made from this number. With another number, samples name other objects, unless the reach is too small. */
  readonly number: number;
  /** The objects that the caller may reach; undefined for all. Objects out of reach need no call. */
  readonly reach: Reach | undefined;
  /**
   * The ids in the text of the document. If a variable names the same project or organization as the text, more rows of
   * one list may be read.
   */
  readonly named: readonly string[];
}

/** The id of a project or organization, chosen by `number`: one within reach, if there is any. */
function ownerOf({ reach, number }: Sampling, type: 'Project' | 'Organization'): string {
  const reachable = [...((type === 'Project' ? reach?.projects : reach?.organizations) ?? [])];
  return reachable[number % reachable.length] ?? (type === 'Project' ? `${number}` : uuidOf(number));
}

/**
 * The samples of each scalar, one for each kind of read that it may lead to. Ids differ with the `number` of the
 * sampling, because fields with equal arguments would share one read.
 */
const scalars: Readonly<Record<string, (sampling: Sampling) => readonly unknown[]>> = {
  Boolean: () => [true, false],
  DateTime: ({ number }) => [new Date(Date.UTC(2024, 4, 1) + number * 60_000).toISOString()],
  Float: () => [1],
  ID: (sampling) => {
    const id = `${sampling.number}`;
    const [project, organization] = [ownerOf(sampling, 'Project'), ownerOf(sampling, 'Organization')];
    const first = { ...sampling, number: 1 };
    const [firstProject, firstOrganization] = [ownerOf(first, 'Project'), ownerOf(first, 'Organization')];
    return [
      project,
      // An object of `firstProject`, and one of `project`. `firstProject` is the same for all samples, so one page may
      // have their objects. `project` differs, so no page has the objects of several samples. Either case may need more
      // calls than the other.
      toGlobalId({ type: 'Dashboard', scope: firstProject, id }),
      toGlobalId({ type: 'Dashboard', scope: project, id }),
      toGlobalId({ type: 'Project', scope: '', id: project }),
      toGlobalId({ type: 'Plugin', scope: firstOrganization, id }),
      toGlobalId({ type: 'Plugin', scope: organization, id }),
      toGlobalId({ type: 'Event', scope: firstProject, id }),
      toGlobalId({ type: 'Event', scope: project, id }),
      organization,
      toGlobalId({ type: 'Organization', scope: '', id: organization }),
      current,
      ...sampling.named.flatMap((scope) => [
        scope,
        ...(['Dashboard', 'Event', 'Plugin'] as const).map((type) => toGlobalId({ type, scope, id })),
      ]),
    ];
  },
  Int: ({ many, number }) => [many, Math.max(1, many - 1 - Math.floor(number / many))],
  JSON: ({ number }) => [{}, { key: number }],
  // A text that is also a valid name of a file.
  String: ({ number }) => [`text-${number}.txt`],
  TimeZone: () => ['UTC'],
  UUID: ({ number }) => [uuidOf(number)],
};

/** The values of a type to try. One of them leads to the most calls. */
export function samplesOf(type: GraphQLInputType, sampling: Sampling): readonly unknown[] {
  const known = getNullableType(type);
  if (isListType(known)) {
    const one = samplesOf(known.ofType, sampling).length;
    return Array.from({ length: one }, (_value, at) => listOf(known.ofType, sampling, at));
  }
  if (isInputObjectType(known)) return objectsOf(known, sampling);
  if (isEnumType(known)) return [known.getValues()[0]?.name];
  return scalars[known.name]?.(sampling) ?? [];
}

/**
 * Input objects with their required members: one with a project as owner, and one with an organization. They also have
 * the first member of type String, so that a filter is not empty, and the member `files`, because a change of source
 * code is refused without a file. Each object is also tried with the members that name dashboards. These dashboards are
 * read before the write if the caller has limited reach.
 */
function objectsOf(type: GraphQLInputObjectType, sampling: Sampling): readonly unknown[] {
  const fields = Object.values(type.getFields());
  const filtered = fields.find(({ type: inner }) => getNullableType(inner) === GraphQLString);
  const first = { ...sampling, number: 1 };
  const project = ownerOf(first, 'Project');
  const owners = [project, ownerOf(first, 'Organization')];
  const dashboards = fields.filter(({ name }) => name.endsWith('DashboardId'));
  const dashboard = toGlobalId({ type: 'Dashboard', scope: project, id: `${sampling.number}` });
  const named = Object.fromEntries(dashboards.map(({ name }) => [name, dashboard]));
  const bare = owners.map((owner) =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const { name, type: inner } = field;
        if (name === 'id') return [[name, project]];
        if (name === 'projectId' || name === 'organizationId') return [[name, owner]];
        return isNonNullType(inner) || field === filtered || name === 'files'
          ? [[name, samplesOf(inner, sampling)[0]]]
          : [];
      }),
    ),
  );
  return dashboards.length === 0 ? bare : [...bare, ...bare.map((object) => ({ ...object, ...named }))];
}

/** A list of the maximum length. Each item is the sample at index `sort`, made with a `number` of its own. */
function listOf(type: GraphQLInputType, sampling: Sampling, sort: number): readonly unknown[] {
  const { many, number } = sampling;
  return Array.from({ length: many }, (_value, at) => samplesOf(type, { ...sampling, number: number + at })[sort]);
}
