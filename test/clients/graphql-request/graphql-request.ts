import { readFileSync } from 'node:fs';
import { GraphQLClient } from 'graphql-request';
import library from '../node_modules/graphql-request/package.json' with { type: 'json' };
import {
  type Client,
  type Connect,
  type DescribeData,
  namesOf,
  nextCursorOf,
  type OverviewData,
  type PageData,
  toOverview,
} from '../support/client.ts';

const connect: Connect = ({ url, authorization, fetch }) => {
  const client = new GraphQLClient(url, { headers: { authorization }, fetch });
  const [overview, page, describe] = [textOf('overview'), textOf('page'), textOf('describe')];
  return {
    overview: async (project) => toOverview(await client.request<OverviewData>(overview, { project })),
    twoPages: async (project) => {
      const first = await client.request<PageData>(page, { project, first: 2 });
      const second = await client.request<PageData>(page, { project, first: 2, after: nextCursorOf(first) });
      return [...namesOf(first), ...namesOf(second)];
    },
    describe: async (input) => {
      const { updateDashboard } = await client.request<DescribeData>(describe, { input });
      return updateDashboard?.dashboard?.description;
    },
  };
};

/** graphql-request. It sends texts only; the gateway lists its .graphql files. */
export const graphqlRequest: Client = {
  name: `graphql-request ${library.version}`,
  text: connect,
  listedText: connect,
};

function textOf(name: string): string {
  return readFileSync(new URL(`${name}.graphql`, import.meta.url), 'utf8');
}
