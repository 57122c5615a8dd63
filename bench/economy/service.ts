/** The keys of the service, and what its process tells. */
import { demoKeys, memberKeys } from '../../workspace/seed/organizations.ts';

/** The key that the whole team shares. */
export const teamKey = memberKeys[0];

/** The key of another tool, which has limits of its own. */
export const otherKey = demoKeys[0];

/** The message that the service's process sends once it listens, and then whenever it is asked. */
export interface ServiceReport {
  readonly url: string;
  /** Requests with the team's key that it has answered so far. */
  readonly calls: number;
  /** Those of them that were answered with 429. */
  readonly throttled: number;
}
