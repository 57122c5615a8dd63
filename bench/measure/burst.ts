/** Load on one gateway for a while. */
import { bytesOf, requestOf } from '../gateways/ask.ts';
import type { RunningGateway } from '../gateways/running.ts';
import type { Question } from '../scenarios/names.ts';
import type { Child } from './child.ts';
import type { LoadJob, LoadResult } from './load.ts';
import type { Point } from './points.ts';

/** A gateway, the operations that it is asked, and the process that asks. */
export interface Burst {
  readonly gateway: RunningGateway;
  readonly load: Child<LoadJob, LoadResult>;
  readonly point: Point;
  readonly question: Question;
  readonly seconds: number;
}

/** Asks a gateway for that long, or as many operations as the point has. Throws if an operation fails. */
export async function runBurst({ gateway, load, point, question, seconds }: Burst): Promise<LoadResult> {
  const requests = point.variants.map((index) =>
    bytesOf(gateway.url, requestOf(point.scenario, question, gateway.variant(index, point.changes))),
  );
  const port = Number(new URL(gateway.url).port);
  const { concurrency, operations } = point;
  const result = await load.ask({ port, concurrency, seconds, operations, requests });
  if (result.failure !== undefined) throw new Error(`an operation failed: ${result.failure}`);
  return result;
}
