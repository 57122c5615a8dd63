/** Runs in the page: makes GraphiQL's runs report their REST calls. */

const tracers = new WeakMap();

/**
 * Wraps GraphiQL's fetcher so that it requests the trace of each run that `begin` wants. A fetcher always gets the same
 * wrapper, because GraphiQL would read the schema again for a new one. The operation is sent once, as usual;
 * `requests.js` turns the header `explain` into an extension. The trace is removed from the answer that GraphiQL shows.
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

/** The state of one run, for the panel. */
class Run {
  #show;
  #startedAt = performance.now();
  #state = { isRunning: true, messages: 0 };

  constructor(show) {
    this.#show = show;
    show(this.#state);
  }

  /** Takes the trace from an answer. Returns the answer without it. */
  take(answer, isLast) {
    const { explain, cost, ...others } = answer?.extensions ?? {};
    // Only the last part of an answer has the trace.
    if (explain === undefined && !isLast) this.#change({ firstPartMs: this.#state.firstPartMs ?? this.#elapsed });
    if (explain !== undefined) this.#change({ calls: explain.calls, cost, messages: this.#state.messages + 1 });
    if (isLast) this.end();
    if (explain === undefined) return answer;
    const { extensions: _, ...plain } = answer;
    return Object.keys(others).length === 0 ? plain : { ...plain, extensions: others };
  }

  /**
   * Follows the answers of a subscription, or the parts of one answer. If GraphiQL stops the run, further answers are
   * stopped at once.
   */
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
