/**
 * An agent that uses the tools of examples/agents with an official client, and prints as JSON what it has got.
 *
 *   node agent.js URL sdk|auto|legacy|2026-07-28
 *
 * `sdk` is the first generation of the client; the others are how the second negotiates the edition of the protocol.
 */
import * as second from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, how] = process.argv.slice(2);
const request = { requestInit: { headers: { authorization: 'Bearer phx_demo_fernweh_travel' } } };
const agent = { name: 'agent', version: '1' };

const { client, transport } = how === 'sdk' ? ofFirst() : ofSecond();
await client.connect(transport);
const edition = how === 'sdk' ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
const { tools } = await client.listTools();
const projects = await use('ListProjects', { first: 1 });
const [project] = projects.structuredContent.projects.nodes;
const dashboards = await use('ListDashboards', { project: project.id, first: 1 });
const [dashboard] = dashboards.structuredContent.project.dashboards.nodes;
const change = await use('PinDashboard', { id: dashboard.id, pinned: true });
const wrong = await use('ListProjects', { first: 500 });
const unknown = await use('NoSuchTool', {}).catch(({ code, message }) => ({ code, message }));
await client.close();
console.log(
  JSON.stringify({ edition, tools: tools.map(({ name }) => name), projects, dashboards, change, wrong, unknown }),
);

function ofFirst() {
  return { client: new FirstClient(agent), transport: new FirstTransport(new URL(url), request) };
}

function ofSecond() {
  const mode = /^\d/.test(how) ? { pin: how } : how;
  const options = { versionNegotiation: { mode } };
  const over = new second.StreamableHTTPClientTransport(new URL(url), request);
  return { client: new second.Client(agent, options), transport: over };
}

function use(name, values) {
  return client.callTool({ name, arguments: values });
}
