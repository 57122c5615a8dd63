import { messageOf } from '../error-text.ts';
import { fingerprint, followFiles } from '../follow-files.ts';
import type { Log } from '../log.ts';
import type { Tenants } from '../rest/tenants.ts';
import { readTenants, type TenantsRead, type TenantsSource } from './read-tenants.ts';

/** What to follow. */
export interface FollowTenantsOptions {
  readonly source: TenantsSource;
  readonly log: Log;
  /** How often the files are looked at, in milliseconds. */
  readonly pollMs?: number;
}

/** Tenants that are read again when their file, or one with a key, changes. */
export interface FollowedTenants {
  /** As they were read last. */
  readonly current: () => Tenants;
  /** Calls back with all tenants at once whenever they are others than before. */
  readonly onChange: (listener: (tenants: Tenants) => void) => void;
  /** Reads the files now. What is wrong with them is logged, and changes nothing. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** Reads the tenants and follows their files. Throws a TenantsError if the file cannot be used at the start. */
export function followTenants({ source, log, pollMs = 500 }: FollowTenantsOptions): FollowedTenants {
  const first = readWithFingerprint(source);
  let { tenants } = first;
  let take: (tenants: Tenants) => void = () => undefined;
  const read = (): void => {
    try {
      const next = readTenants(source);
      const changed = contentsOf(next.tenants) !== contentsOf(tenants);
      ({ tenants } = next);
      followed.follow(next.files);
      if (changed) take(tenants);
      log('info', 'upstream keys read again', { tenants: tenants.size, changed });
    } catch (error) {
      const reason = messageOf(error);
      log('error', `upstream keys stay as they were: ${reason}`);
    }
  };
  const onError = (error: unknown): void => log('error', `upstream keys cannot be followed: ${String(error)}`);
  const followed = followFiles({ patterns: first.files, since: first.since, pollMs, read, onError });
  return {
    current: () => tenants,
    onChange: (listener) => {
      take = listener;
    },
    reload: followed.readAgain,
    close: followed.close,
  };
}

/** The fingerprint is from before the reading: a change in between is read again. */
function readWithFingerprint(source: TenantsSource): TenantsRead & { readonly since: string } {
  const { files } = readTenants(source);
  const since = fingerprint(files);
  return { ...readTenants(source), since };
}

function contentsOf(tenants: Tenants): string {
  return [...tenants.values()].map(({ entryHash }) => entryHash).join();
}
