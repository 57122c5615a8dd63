/** The operations that people send to a fleet of gateways: the same for a seed, whatever the machine. */
import { createRandom } from '../../workspace/seed/random.ts';

/** The parts that gateways share. */
export type Sharing =
  // Both are in one Redis.
  | 'both'
  // The budget is in Redis, and each gateway has a cache of its own.
  | 'budget'
  // Each gateway has a whole budget and a cache of its own.
  | 'none';

/** The size and the duration of the traffic to a fleet. Times in seconds. */
export interface FleetSize {
  readonly seconds: number;
  /** People of each gateway. The load balancer sends each of their operations to any gateway. */
  readonly people: number;
  /** The time between two polls of a person's page. */
  readonly poll: number;
  /** Projects that they look at, some of them far more often than others. */
  readonly projects: number;
  /** The number of calls that the service allows in so many seconds, for the one key that all share. */
  readonly limit: { readonly calls: number; readonly seconds: number };
  /** The time for which an answer is fresh; after that it is used while a newer one is read, for `stale`. */
  readonly fresh: number;
  readonly stale: number;
  /** When Redis is killed, and when it is started again without its data, in a case with an outage. */
  readonly outage: { readonly from: number; readonly to: number };
}

/** One row of the table. */
export interface FleetCase {
  readonly gateways: number;
  readonly sharing: Sharing;
  readonly hasOutage: boolean;
}

/** A person asks a gateway for a project, at a time in milliseconds. */
export interface Arrival {
  readonly at: number;
  readonly gateway: number;
  readonly project: number;
}

/** The whole form. No time is compressed. */
export const wholeFleet: FleetSize = {
  seconds: 80,
  people: 40,
  poll: 10,
  projects: 150,
  limit: { calls: 480, seconds: 60 },
  fresh: 60,
  stale: 600,
  outage: { from: 50, to: 70 },
};

/** A few seconds, to see that everything works. */
export const smallFleet: FleetSize = {
  seconds: 5,
  people: 10,
  poll: 1,
  projects: 12,
  limit: { calls: 30, seconds: 4 },
  fresh: 4,
  stale: 60,
  outage: { from: 2, to: 3 },
};

/** The rows of the table, in their order. */
export const wholeCases: readonly FleetCase[] = [
  { gateways: 1, sharing: 'both', hasOutage: false },
  { gateways: 10, sharing: 'both', hasOutage: false },
  { gateways: 50, sharing: 'both', hasOutage: false },
  { gateways: 50, sharing: 'budget', hasOutage: false },
  { gateways: 50, sharing: 'none', hasOutage: false },
  { gateways: 50, sharing: 'both', hasOutage: true },
];

/** All that is asked of so many gateways, in the order of time. */
export function planArrivals({ seconds, people, poll, projects }: FleetSize, gateways: number): readonly Arrival[] {
  const random = createRandom(27);
  const arrivals: Arrival[] = [];
  for (let person = 0; person < people * gateways; person += 1) {
    for (let at = random() * poll; at < seconds; at += poll) {
      arrivals.push({
        at: at * 1000,
        gateway: Math.floor(random() * gateways),
        project: drawProject(projects, random()),
      });
    }
  }
  return arrivals.toSorted((a, b) => a.at - b.at);
}

/** A project from 1. The second is asked for half as often as the first, the third a third as often (Zipf's law). */
function drawProject(projects: number, drawn: number): number {
  const weights = Array.from({ length: projects }, (_, index) => 1 / (index + 1));
  let left = drawn * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (left -= weight) < 0);
  return found === -1 ? projects : found + 1;
}
