/** Runs in the page: makes runs report which REST calls they made. */

const tracers = new WeakMap();

/**
 * GraphiQL's fetcher, each run of which is asked for its trace if `begin` wants it; always the same one for the same fetcher,
 * since GraphiQL reads the schema anew for another. The operation is sent once, as usual: see `requests.js` for the header,
 * which is not sent as one. What the trace adds to an answer is taken out again.
 */
function tracing(fetcher, begin) {
  const known = tracers.get(fetcher);
  if (known !== undefined) return known;
  const traced = async (params, options = {}) => {
    const isPlain = options.headers?.explain === undefined && !params.query.includes('__schema');
    const show = isPlain ? begin(params, options.headers) : undefined;
    if (show === undefined) return fetcher(params, options);
    const run = new Run(show);
    try {
      const answer = await fetcher(params, { ...options, headers: { ...options.headers, explain: 'trace' } });
      return Symbol.asyncIterator in answer ? run.follow(answer) : run.take(answer, true);
    } catch (error) {
      run.end();
      throw error;
    }
  };
  tracers.set(fetcher, traced);
  return traced;
}

/** One run, as the panel shows it. */
class Run {
  #show;
  #startedAt = performance.now();
  #state = { isRunning: true, messages: 0 };

  constructor(show) {
    this.#show = show;
    show(this.#state);
  }

  /** Takes what an answer says of the run. Returns the answer as it would be without. */
  take(answer, isLast) {
    const { explain, cost, ...others } = answer?.extensions ?? {};
    // The last part of an answer has its trace.
    if (explain === undefined && !isLast) this.#change({ firstPartMs: this.#state.firstPartMs ?? this.#elapsed });
    if (explain !== undefined) this.#change({ calls: explain.calls, cost, messages: this.#state.messages + 1 });
    if (isLast) this.end();
    if (explain === undefined) return answer;
    const { extensions: _, ...plain } = answer;
    return Object.keys(others).length === 0 ? plain : { ...plain, extensions: others };
  }

  /** The answers of a subscription, or the parts of one answer. To stop means to stop them at once. */
  follow(answers) {
    const iterator = answers[Symbol.asyncIterator]();
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        try {
          const { value, done } = await iterator.next();
          if (done) this.end();
          return { value: done ? value : this.take(value, false), done };
        } catch (error) {
          this.end();
          throw error;
        }
      },
      return: async (value) => {
        this.#change({ isStopped: true });
        this.end();
        return (await iterator.return?.(value)) ?? { value, done: true };
      },
    };
  }

  end() {
    this.#change({ isRunning: false, milliseconds: this.#elapsed });
  }

  get #elapsed() {
    return Math.round(performance.now() - this.#startedAt);
  }

  #change(changes) {
    this.#state = { ...this.#state, ...changes };
    this.#show(this.#state);
  }
}
