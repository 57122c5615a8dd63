/** The upstream as a process of its own. Its parent sets its latency, and reads and resets its counts. */
import { startBenchUpstream } from '../upstream/server.ts';

/** The order of the parent: start counting anew, and answer after this many milliseconds. */
export interface UpstreamOrder {
  readonly latencyMs: number;
}

/** The answer to an order: all that happened since the last one. The first answer comes unasked. */
export interface UpstreamReport {
  readonly url: string;
  readonly calls: number;
  readonly withoutKey: number;
}

const upstream = await startBenchUpstream();
const report = (): void => {
  const { url, calls, withoutKey } = upstream;
  process.send?.({ url, calls, withoutKey } satisfies UpstreamReport);
};

process.on('disconnect', () => process.exit());
process.on('message', ({ latencyMs }: UpstreamOrder) => {
  report();
  upstream.reset();
  upstream.setLatency(latencyMs);
});
report();
