import type { IncomingHttpHeaders } from 'node:http';

/** One request as the fake upstream received it. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Complete once the request is answered. */
  readonly body: string;
  /** Marks of one counter, no clock: whatever happened earlier has the smaller mark. */
  readonly startedAt: number;
  /** Infinity while the request is in flight. */
  readonly endedAt: number;
  /** The connection closed before the answer was complete: the client left, unless the route itself closed it. */
  readonly cancelled: boolean;
}

/** A request in flight: the server completes it. */
export type OpenRequest = { -readonly [Name in keyof RecordedRequest]: RecordedRequest[Name] };

/** The requests that were received, in order of arrival, and those in flight at the same time. */
export class Traffic {
  /** `METHOD target` of each request. */
  readonly requests: string[] = [];
  readonly records: OpenRequest[] = [];
  #mark = 0;

  start(method: string, target: string, headers: IncomingHttpHeaders): OpenRequest {
    const startedAt = this.#nextMark();
    const record = { method, target, headers, body: '', startedAt, endedAt: Infinity, cancelled: false };
    this.records.push(record);
    this.requests.push(`${method} ${target}`);
    return record;
  }

  end(record: OpenRequest, cancelled: boolean): void {
    if (record.endedAt !== Infinity) return;
    record.endedAt = this.#nextMark();
    record.cancelled = cancelled;
  }

  /** True if two requests, given as `METHOD target`, were in flight at the same time. Throws for one never received. */
  overlapped(a: string, b: string): boolean {
    const [first, second] = [this.#all(a), this.#all(b)];
    return first.some((one) => second.some((other) => one !== other && overlap(one, other)));
  }

  /** Length of the longest chain of requests in which each started after the one before it had ended. */
  waves(): number {
    const depths = new Map<RecordedRequest, number>();
    for (const record of this.records) {
      const before = this.records.filter((other) => other.endedAt < record.startedAt);
      depths.set(record, 1 + Math.max(0, ...before.map((other) => depths.get(other) ?? 0)));
    }
    return Math.max(0, ...depths.values());
  }

  /** Largest number of requests that were in flight at the same time. */
  get mostInFlight(): number {
    const together = ({ startedAt }: RecordedRequest): number =>
      this.records.filter((other) => other.startedAt <= startedAt && other.endedAt > startedAt).length;
    return Math.max(0, ...this.records.map(together));
  }

  reset(): void {
    this.requests.length = 0;
    this.records.length = 0;
  }

  #all(line: string): RecordedRequest[] {
    const found = this.records.filter((_record, index) => this.requests[index] === line);
    if (found.length === 0) throw new Error(`expected a request ${line} but got ${this.requests.join(', ') || 'none'}`);
    return found;
  }

  #nextMark(): number {
    this.#mark += 1;
    return this.#mark;
  }
}

function overlap(one: RecordedRequest, other: RecordedRequest): boolean {
  return one.startedAt < other.endedAt && other.startedAt < one.endedAt;
}
