/** The upstream as a process of its own. Its parent sets its latency, and reads and resets its counts. */
import { startBenchUpstream } from '../upstream/server.ts';

/** What the parent asks: to start counting anew, answering after this many milliseconds. */
export interface UpstreamOrder {
  readonly latencyMs: number;
}

/** What it answers: what happened since the last order. The first answer comes unasked. */
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
