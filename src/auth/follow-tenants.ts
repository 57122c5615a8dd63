import { type FollowedFiles, fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Tenants } from '../rest/tenants.ts';
import { readTenants, type TenantsRead, type TenantsSource } from './read-tenants.ts';

/** Settings of the following of tenants. */
export interface FollowTenantsOptions {
  readonly source: TenantsSource;
  /** Throws an Error if tenants that were read again name documents that do not exist. */
  readonly check?: (tenants: Tenants) => void;
  readonly log: Log;
  /** The interval at which the files are checked, in milliseconds. */
  readonly pollMs?: number;
}

/** Tenants that are read again when their file or a file with a key changes. */
export interface FollowedTenants extends FollowedFiles {
  readonly current: () => Tenants;
  /** Calls the listener with all tenants whenever they have changed. */
  readonly onChange: (listener: (tenants: Tenants) => void) => void;
}

/**
 * Reads the tenants and follows their files. Throws a TenantsError if the file cannot be used at the start. Later faults
 * are logged and change nothing.
 */
export function followTenants({ source, check, log, pollMs }: FollowTenantsOptions): FollowedTenants {
  const first = readWithFingerprint(source);
  let { tenants, files } = first;
  let take: (tenants: Tenants) => void = () => undefined;
  const read = (): void => {
    const next = readTenants(source);
    check?.(next.tenants);
    const changed = contentsOf(next.tenants) !== contentsOf(tenants);
    ({ tenants, files } = next);
    if (changed) take(tenants);
    log('info', 'upstream keys read again', { tenants: tenants.size, changed });
  };
  const { since } = first;
  const followed = followFiles({ name: 'upstream keys', patterns: () => files, since, pollMs, read, log });
  return {
    current: () => tenants,
    onChange: (listener) => {
      take = listener;
    },
    ...followed,
  };
}

/** Reads the tenants. The fingerprint is taken before reading, so that a change in between is read again. */
function readWithFingerprint(source: TenantsSource): TenantsRead & { readonly since: string } {
  const { files } = readTenants(source);
  const since = fingerprint(files);
  return { ...readTenants(source), since };
}

function contentsOf(tenants: Tenants): string {
  return [...tenants.values()].map(({ entryHash }) => entryHash).join();
}
