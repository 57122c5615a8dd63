import type { McpConfig, ToolNames } from '../mcp/mcp.ts';
import { authSettings } from './auth-settings.ts';
import { persistedSettings } from './persisted-settings.ts';
import { optional, type SettingsReader } from './reader.ts';
import { Fault, type Kind } from './settings.ts';
import { publicUrl } from './urls.ts';

/** The settings of the endpoint for agents. */
export const mcpSettings = {
  tools: optional('MCP_TOOLS', toolNames('Operations of the manifests that agents may use at `/mcp`. Default: none')),
  publicUrl: optional(
    'PUBLIC_URL',
    publicUrl('URL under which clients reach the gateway. Required with MCP_TOOLS and AUTH=jwt'),
  ),
};

/** Reads the settings of the endpoint for agents; undefined if there is none. */
export function readMcp(reader: SettingsReader): McpConfig | undefined {
  const { tools: setting, ...others } = mcpSettings;
  const tools = reader.read(setting);
  const url = reader.read(others.publicUrl);
  if (!reader.isSet(setting.name)) {
    reader.warnOfIgnored(Object.values(others), `${setting.name} is not set`);
    return undefined;
  }
  const { files, mode } = persistedSettings;
  reader.need(files, `${setting.name} is set`);
  if (reader.read(mode) === 'off')
    reader.fault(mode.name, `expected allow, log or only, because ${setting.name} is set, but it is off`);
  if (reader.read(authSettings.auth) === 'jwt') reader.need(others.publicUrl, `${setting.name} is set and AUTH is jwt`);
  return tools && Object.freeze({ tools, publicUrl: url });
}

/** Names of operations, or all queries. */
function toolNames(meaning: string): Kind<ToolNames> {
  return {
    fallback: undefined,
    meaning,
    expected: 'names of operations, separated by commas, or * for every named query',
    read: (source) => {
      const names = source.split(',').map((name) => name.trim());
      const wrong = names.find((name) => name !== '*' && !/^[A-Za-z_]\w{0,127}$/.test(name));
      if (wrong !== undefined) throw new Fault(`${JSON.stringify(wrong)} is no name of an operation`);
      return Object.freeze([...new Set(names)]);
    },
  };
}
