import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { originOf } from '../../src/look-ahead/field-origins.ts';
import { createSchema } from '../../src/schema.ts';
import { listOf } from '../support/lists.ts';
import { quick, subscribe } from '../support/live.ts';
import { codesOf } from '../support/load.ts';
import { dashboard, plugin, project } from '../support/rows.ts';
import { startTenants } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream.ts';
import { decisions, entry, other, own } from './reach-table.ts';

const schema = createSchema();

/** Names of arguments that hold a cursor. */
const cursors: ReadonlySet<string> = new Set(['after', 'before']);

/** True if an argument or an input field takes an id, a cursor, or JSON that may hold ids unknown to the gateway. */
function takesId({ name, type }: GraphQLArgument | GraphQLInputField): boolean {
  const named = getNamedType(type).name;
  return named === 'ID' || (named === 'String' && cursors.has(name)) || (named === 'JSON' && name === 'extra');
}

/** True if objects of a type can be named by an id, or hold others that can. */
function leadsToId(type: GraphQLNamedType): boolean {
  if (isInterfaceType(type)) return true;
  if (!isObjectType(type)) return false;
  return type.getInterfaces().length > 0 || type.getFields()['pageInfo'] !== undefined;
}

function isRead(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): boolean {
  return type.name !== 'Mutation' && 'endpoint' in originOf(field);
}

/** Every place of the schema that takes an id, or leads to an object that has one. */
function placesOf(type: GraphQLNamedType): string[] {
  if (isInputObjectType(type)) {
    return Object.values(type.getFields())
      .filter(takesId)
      .map(({ name }) => `${type.name}.${name}`);
  }
  if (!isObjectType(type) || type.name.startsWith('__')) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    ...(leadsToId(getNamedType(field.type)) || isRead(type, field) ? [`${type.name}.${field.name}`] : []),
    ...field.args.filter(takesId).map(({ name }) => `${type.name}.${field.name}(${name})`),
  ]);
}

const places = Object.values(schema.getTypeMap()).flatMap(placesOf);

test('every field and argument that takes an id, or leads to one, has a decision; nothing else has one', () => {
  expect(places.filter((place) => !Object.hasOwn(decisions, place))).toEqual([]);
  expect(Object.keys(decisions).filter((place) => !places.includes(place))).toEqual([]);
});

function restPathOf(place: string): string {
  const [typeName = '', fieldName = ''] = place.replace(/\(.*/, '').split('.');
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  if (field === undefined) throw new Error(`${place} is no field of an object`);
  const origin = originOf(field);
  return 'endpoint' in origin ? origin.endpoint.path : '';
}

const all = Object.entries(decisions);

test.each(all.filter(([, { kind }]) => kind === 'below'))(
  '%s is read below its owner, which is within reach',
  (place) => {
    expect(restPathOf(place)).toMatch(/^\/api\/(?:projects|organizations)\/\{\w+\}\/\w+\//);
  },
);

test.each(all.flatMap(([place, decision]) => (decision.kind === 'relation' ? [{ place, ...decision }] : [])))(
  '$place answers nothing of what is out of reach, and calls nothing for it',
  async ({ query, data, calls }) => {
    await using upstream = await startUpstream({
      'GET /api/projects/1/': project(1, { organization: other }),
      [`GET /api/organizations/${own}/plugins/`]: listOf([plugin(1, { organization_id: other, is_global: true })]),
    });
    await using gateway = await startTenants(upstream, { acme: entry });
    const answer = await gateway.askAs('acme', query);
    expect([answer.data, answer.errors]).toEqual([data, undefined]);
    expect(upstream.requests).toEqual(calls);
  },
);

test.each(all.flatMap(([place, decision]) => (decision.kind === 'followed' ? [{ place, ...decision }] : [])))(
  '$place out of reach ends with $outcome, and nothing is called',
  async ({ query, outcome }) => {
    await using upstream = await startUpstream({});
    await using gateway = await startTenants(upstream, { acme: entry }, { live: quick });
    await using heard = await subscribe(gateway.url, { query, headers: await gateway.headersOf('acme') });
    await heard.until(() => heard.ended !== undefined);
    expect(heard.messages).toMatchObject([{ errors: [{ extensions: { code: outcome } }] }]);
    expect(upstream.requests).toEqual([]);
    expect(gateway.reported).toEqual([]);
  },
);

describe('Out of reach', () => {
  test.each(all.flatMap(([place, decision]) => (decision.kind === 'checked' ? [{ place, ...decision }] : [])))(
    '$place is $outcome, and nothing is called',
    async ({ query, outcome }) => {
      await using upstream = await startUpstream({});
      await using gateway = await startTenants(upstream, { acme: entry });
      const answer = await gateway.askAs('acme', query);
      const isAbsent = /^\{"\w+":(?:null|\[null\])\}$/.test(JSON.stringify(answer.data));
      expect(isAbsent && answer.errors === undefined ? ['null'] : codesOf(answer)).toEqual([outcome]);
      expect(upstream.requests).toEqual([]);
      expect(gateway.reported).toEqual([]);
    },
  );
});

describe('Named by a body', () => {
  const shown = all.flatMap(([place, decision]) => (decision.kind === 'shown' ? [{ place, ...decision }] : []));
  const others = { 'GET /api/projects/1/dashboards/7/': dashboard(7) };

  test('is every id of an input beside its own, that of its owner, and that of a tile', () => {
    const addresses = /\.(?:id|projectId|organizationId|tileId)$|^CreateProjectInput\./;
    const ids = Object.values(schema.getTypeMap()).flatMap((type) =>
      isInputObjectType(type)
        ? Object.values(type.getFields())
            .filter((field) => getNamedType(field.type).name === 'ID')
            .map(({ name }) => `${type.name}.${name}`)
        : [],
    );
    expect(shown.map(({ place }) => place).toSorted()).toEqual(
      ids.filter((place) => !addresses.test(place)).toSorted(),
    );
  });

  test.each(shown)('$place with a forged global id is FORBIDDEN once the upstream has not shown it', async (row) => {
    await using upstream = await startUpstream(others);
    await using gateway = await startTenants(upstream, { acme: entry }, { explain: true });
    const { extensions } = await gateway.askAs('acme', row.forged, { extensions: { explain: 'plan' } });
    const planned = { lower: row.calls.length, upper: row.calls.length + 1, waves: 2 };
    expect(extensions).toMatchObject({ explain: planned });
    expect(codesOf(await gateway.askAs('acme', row.forged))).toEqual(['FORBIDDEN']);
    expect(upstream.requests.toSorted()).toEqual(row.calls.toSorted());
    expect(gateway.reported).toEqual([]);
  });

  test.each(shown)('$place with an upstream id is FORBIDDEN without a call', async ({ raw }) => {
    await using upstream = await startUpstream({});
    await using gateway = await startTenants(upstream, { acme: entry });
    expect(codesOf(await gateway.askAs('acme', raw))).toEqual(['FORBIDDEN']);
    expect(upstream.requests).toEqual([]);
  });
});
