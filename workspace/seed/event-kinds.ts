import type { JsonObject } from '../json.ts';
import type { SeedProject } from './projects.ts';
import { choose, type Random } from './random.ts';

/** A kind of event that a project captures. */
export interface EventKind {
  readonly event: string;
  /** The frequency of the event, relative to the others. */
  readonly weight: number;
  readonly propertiesOf: (random: Random) => JsonObject;
}

/** The kinds of events that a project captures. */
export function kindsOf({ surface, business }: SeedProject): readonly EventKind[] {
  return [
    ...surfaces[surface],
    ...businesses[business],
    kind('signed up', 2, (random) => ({ method: choose(random, ['email', 'google', 'apple']) })),
  ];
}

function kind(event: string, weight: number, propertiesOf: EventKind['propertiesOf']): EventKind {
  return { event, weight, propertiesOf };
}

const surfaces: Readonly<Record<SeedProject['surface'], readonly EventKind[]>> = {
  web: [
    kind('$pageview', 36, (random) => ({
      $referring_domain: choose(random, ['$direct', 'www.google.com', 'news.example']),
    })),
    kind('$pageleave', 16, (random) => ({ $prev_pageview_duration: Math.round(random() * 240_000) / 1000 })),
    kind('$autocapture', 18, () => ({ $event_type: 'click' })),
    kind('$identify', 3, () => ({ $anon_distinct_id: null })),
  ],
  app: [
    kind('Application Opened', 24, (random) => ({ from_background: random() < 0.6 })),
    kind('$screen', 40, (random) => ({ $screen_name: choose(random, ['Home', 'Search', 'Account', 'Help']) })),
    kind('Application Backgrounded', 9, () => ({})),
  ],
};

const businesses: Readonly<Record<SeedProject['business'], readonly EventKind[]>> = {
  travel: [
    kind('search performed', 14, (random) => ({
      destination: choose(random, ['Lisbon', 'Kyoto', 'Oslo', 'Cape Town']),
      nights: 1 + Math.floor(random() * 14),
    })),
    kind('hotel viewed', 10, (random) => ({ hotel: choose(random, ['Casa do Mar', 'Hotel Fjord', 'Ryokan Sora']) })),
    kind('booking completed', 3, (random) => ({
      price: Math.round(random() * 90_000) / 100,
      currency: 'EUR',
      booking_number: longNumber(random),
    })),
  ],
  bank: [
    kind('logged in', 16, (random) => ({ factor: choose(random, ['passkey', 'pin', 'code']) })),
    kind('transfer completed', 8, (random) => ({
      amount: Math.round(random() * 500_000) / 100,
      transfer_number: longNumber(random),
    })),
    kind('card frozen', 1, (random) => ({ reason: choose(random, ['lost', 'stolen', 'travel']) })),
  ],
};

/** An integer beyond 2^53, as such systems number things. */
function longNumber(random: Random): unknown {
  return JSON.rawJSON(String(9_007_199_254_740_993n + BigInt(Math.floor(random() * 1e9)) * 1_000_003n));
}
