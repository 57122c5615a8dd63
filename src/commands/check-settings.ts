import { checkRoleDocuments } from '../auth/entry-rights.ts';
import { readTenants } from '../auth/tenants-file.ts';
import { ConfigError } from '../config-error.ts';
import { createAgents } from '../mcp/mcp.ts';
import type { DocumentSet } from '../operation/persisted/document-set.ts';
import { sourcesOf } from '../operation/persisted/manifest.ts';
import { followManifests } from '../operation/persisted/persisted.ts';
import type { Tenants } from '../rest/tenants.ts';
import { createSchema, createSchemas } from '../schema.ts';
import { type Config, readConfig, tenantsSourceOf } from '../settings/config.ts';
import type { Environment, EnvironmentFile } from '../settings/settings-reader.ts';

/**
 * The warnings that a start would print, and the faults that would keep the gateway from starting. Reads everything
 * that a start reads: settings, the files that they name, and the documents in these files. Makes no request.
 */
export async function checkedSettings(
  environment: Environment,
  file: EnvironmentFile,
): Promise<Record<'faults' | 'warnings', readonly string[]>> {
  try {
    const config = readConfig(environment, file);
    const read = config.auth && readTenants(tenantsSourceOf(config.auth, environment));
    return { faults: [], warnings: [...config.warnings, ...(await documentWarnings(config, read?.tenants))] };
  } catch (error) {
    if (error instanceof ConfigError) return { faults: error.faults, warnings: [] };
    throw error;
  }
}

/** A message that names the setting that it is about. */
function withSettingName(message: string): string {
  return /^[A-Z_]+: /.test(message) ? message : `PERSISTED_DOCUMENTS: ${message}`;
}

/** The warnings about listed documents. Rejects with a ConfigError for a fault that would stop a start. */
async function documentWarnings(config: Config, tenants: Tenants = new Map()): Promise<readonly string[]> {
  const { persisted, introspection, incremental, live, mcp } = config;
  const { files, mode, strict } = persisted;
  if (files === undefined || mode === 'off') {
    checkRoleDocuments(tenants, () => []);
    return [];
  }
  const warnings: string[] = [];
  const schema = createSchema(live !== undefined);
  const schemas = createSchemas(schema, incremental);
  const agents = mcp && createAgents(mcp, { ...config, schema });
  const check = (set: DocumentSet): void => {
    agents?.check(set);
    checkRoleDocuments(tenants, () => set.byId.values());
  };
  // `check` needs all documents. It is left out if a manifest is on a server, because such manifests are not read here.
  const isWhole = sourcesOf(files).urls.length === 0;
  try {
    const followed = await followManifests(files, {
      ...{ mode, strict, schemas, introspection },
      check: isWhole ? check : undefined,
      log: (level, message) => void (level === 'warn' && warnings.push(message)),
    });
    followed.close();
    return warnings;
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(...error.faults.map(withSettingName)) : error;
  }
}
