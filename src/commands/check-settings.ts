import { createAgents } from '../mcp/mcp.ts';
import { createPrepareListed } from '../operation/document.ts';
import { type DocumentSet, textsOf } from '../operation/persisted/document-set.ts';
import { followManifests } from '../operation/persisted/follow-manifests.ts';
import { ManifestError } from '../operation/persisted/manifest.ts';
import { sourcesOf } from '../operation/persisted/manifest-files.ts';
import { checkRoleDocuments } from '../operation/persisted/role-documents.ts';
import { createDocumentUses } from '../operation/persisted/uses.ts';
import type { Tenants } from '../rest/tenants.ts';
import { createSchema, createSchemas } from '../schema.ts';
import { type Config, readConfig } from '../settings/config.ts';
import type { EnvironmentFile } from '../settings/reader.ts';
import { ConfigError, type Environment } from '../settings/settings.ts';

/** The messages that a start would print about its settings. */
interface CheckedSettings {
  /** The faults that would keep the gateway from starting. */
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Reads everything that a start reads: settings, the files that they name, and the documents in these files. Makes no
 * request.
 */
export function checkedSettings(environment: Environment, file: EnvironmentFile): CheckedSettings {
  try {
    const config = readConfig(environment, file);
    return { faults: [], warnings: [...config.warnings, ...documentWarnings(config)] };
  } catch (error) {
    if (error instanceof ConfigError) return { faults: error.faults, warnings: [] };
    if (error instanceof ManifestError) return { faults: [named(error.message)], warnings: [] };
    throw error;
  }
}

/** A message that names the setting that it is about. */
function named(message: string): string {
  return /^[A-Z_]+: /.test(message) ? message : `PERSISTED_DOCUMENTS: ${message}`;
}

/** The warnings about listed documents. Throws a ManifestError for a fault that would stop a start. */
function documentWarnings(config: Config): readonly string[] {
  const { persisted, introspection, incremental, live, mcp } = config;
  const { files, mode, strict } = persisted;
  const tenants: Tenants = config.auth?.tenants ?? new Map();
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
    checkRoleDocuments(tenants, () => textsOf(set));
  };
  // Tools and the documents of roles may be in manifests of servers, which are not read here.
  const isWhole = sourcesOf(files).urls.length === 0;
  followManifests({
    ...{ files, mode, strict, prepare: createPrepareListed({ schemas, introspection }), uses: createDocumentUses() },
    check: isWhole ? check : undefined,
    log: (level, message) => void (level === 'warn' && warnings.push(message)),
  }).close();
  return warnings;
}
