import { hash } from 'node:crypto';
import { ConfigError } from '../config-error.ts';
import { type Followed, follow } from '../follow.ts';
import type { Log } from '../log.ts';
import { readTextFile } from '../read-text.ts';
import { contentHash, type Tenant, type Tenants } from '../rest/tenants.ts';
import { isObject, type JsonObject, jsonIn } from '../rest/values.ts';
import { rightsMembers, rightsOf } from './entry-rights.ts';
import { FilePlace, kindOf, memberPath, shown } from './file-place.ts';

/** The file with the entries of tenants, and what is needed to read it. */
export interface TenantsSource {
  readonly path: string;
  /** The environment in which `keyEnv` is looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly mutationNames: readonly string[];
  /** True if tokens may name roles. Otherwise, an entry with roles is refused. */
  readonly hasRoles: boolean;
}

/**
 * Reads the file and the keys that it refers to. `files` are the files that were read: the file itself, and those that
 * hold keys. Throws a ConfigError with the faults of each entry.
 */
export function readTenants(source: TenantsSource): { readonly tenants: Tenants; readonly files: readonly string[] } {
  const { path } = source;
  const value = jsonIn(readTextFile(path, (why) => new ConfigError(`${path}: expected JSON, but ${why}`)));
  if (value === undefined) throw new ConfigError(`${path}: expected JSON, but it cannot be parsed`);
  if (!isObject(value)) throw new ConfigError(`${path}: expected an object with a member for each tenant`);
  const tenants = new Map<string, Tenant>();
  const files = [path];
  const faults: string[] = [];
  for (const [name, entry] of Object.entries(value)) {
    try {
      const where = new FilePlace(path, memberPath(name));
      if (name === '') throw where.unexpected('the name of a tenant', name);
      if (!isObject(entry)) throw where.error(`an object with a key, a keyFile or a keyEnv, but got ${kindOf(entry)}`);
      tenants.set(name, tenantOf(name, entry, where, source));
      if (typeof entry['keyFile'] === 'string') files.push(entry['keyFile']);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new ConfigError(...faults);
  return { tenants, files };
}

export interface FollowTenantsOptions {
  readonly source: TenantsSource;
  /** Throws an Error if tenants that were read again name documents that do not exist. */
  readonly check?: (tenants: Tenants) => void;
  readonly log: Log;
  /** The interval at which the files are checked, in milliseconds. */
  readonly pollMs?: number;
}

/**
 * Reads the tenants, and reads them again when their file or a file with a key changes. Rejects with a ConfigError if
 * a file cannot be used at the start. Later faults are logged and change nothing.
 */
export async function followTenants({ source, check, log, pollMs }: FollowTenantsOptions): Promise<Followed<Tenants>> {
  // This reading only shows which files there are.
  let { files } = readTenants(source);
  const first = (): Tenants => readTenants(source).tenants;
  const again = (previous: Tenants): Tenants => {
    const next = readTenants(source);
    check?.(next.tenants);
    ({ files } = next);
    const changed = contentHash(next.tenants) !== contentHash(previous);
    log('info', 'upstream keys were read again', { tenants: next.tenants.size, changed });
    return changed ? next.tenants : previous;
  };
  return follow({ name: 'upstream keys', patterns: () => files, first, again, pollMs, log });
}

const keyMembers = ['key', 'keyFile', 'keyEnv'] as const;
const members = [...keyMembers, ...rightsMembers];

function tenantOf(name: string, entry: JsonObject, where: FilePlace, source: TenantsSource): Tenant {
  where.refuseUnknown(entry, members);
  if (entry['roles'] !== undefined && !source.hasRoles)
    throw where.at('.roles').error('JWT_ROLES_CLAIM to be set, because tokens name roles in that claim');
  const key = keyOf(entry, where, source);
  const rights = rightsOf(entry, where, source.mutationNames);
  const keyHash = hash('sha256', key, 'base64url');
  return { name, key, keyHash, entryHash: contentHash(name, keyHash, rights), ...rights };
}

function keyOf(entry: JsonObject, where: FilePlace, { environment }: TenantsSource): string {
  const given = keyMembers.filter((member) => entry[member] !== undefined);
  const [member] = given;
  if (member === undefined || given.length > 1) {
    throw where.error(
      `exactly one of key, keyFile and keyEnv, but got ${given.length === 0 ? 'none' : given.join(' and ')}`,
    );
  }
  const place = where.at(`.${member}`);
  const value = entry[member];
  if (typeof value !== 'string' || value === '') {
    // The message does not quote the value, which may be a key in the wrong form.
    throw place.error(`a text, but got ${value === '' ? 'an empty one' : kindOf(value)}`);
  }
  if (member === 'key') return checkedKey(value, place, 'it');
  if (member === 'keyFile') {
    const content = readTextFile(value, (why) => place.error(`the path of a file with a key, but ${why}`));
    return checkedKey(content.trim(), place, 'the content of the file');
  }
  const found = environment[value];
  if (found === undefined || found === '') {
    // Quoted only if it looks like a name: the author of the file may have written the key itself there.
    const text = /^[A-Z][A-Z\d_]*$/.test(value) ? shown(value) : `a text of ${value.length} characters`;
    throw place.error(`the name of an environment variable that is set, but got ${text}`);
  }
  return checkedKey(found, place, 'the value of the variable');
}

/** The key, if it has the form of a bearer token in an `Authorization` header (RFC 6750 §2.1). Throws otherwise. */
function checkedKey(key: string, place: FilePlace, what: string): string {
  if (/^[\w\-.~+/]{1,4000}=*$/.test(key)) return key;
  throw place.error(`a personal API key (letters, digits and -._~+/ without spaces), but ${what} is something else`);
}
