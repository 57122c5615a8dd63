const noPlan = { plan: undefined, planKey: undefined, problem: undefined };

/**
 * Runs in the page: what the panel "REST calls" knows. While it is open it has the plan of the open tab, for which nothing is
 * executed, and what the latest run made of it.
 */
class PanelState {
  #state = { ...noPlan, isAsking: false, run: undefined, runKey: undefined };
  #listeners = new Set();
  #isOpen = false;
  #tab;
  #wanted;
  #runs = 0;
  #requests = createPlanRequests({
    post: postPlan,
    onOutcome: (params, { plan, ...problem }) => {
      const found = plan === undefined ? {} : { plan, planKey: keyOf(params) };
      this.#set({ isAsking: false, problem: undefined, isPassing: false, ...problem, ...found });
    },
  });

  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = () => this.#state;

  /** It is opened; what is returned closes it. */
  open = () => {
    this.#isOpen = true;
    this.#wanted = undefined;
    this.#tab ??= storedTab();
    this.#want(paramsOf(this.#tab), 0);
    return () => {
      this.#isOpen = false;
      this.#requests.stop();
    };
  };

  /** GraphiQL's tabs have changed. What is greyed is an older plan of the same tab, never that of another. */
  takeTabs = ({ tabs, activeTabIndex }) => {
    const tab = tabs[activeTabIndex] ?? {};
    if (this.#tab?.id !== undefined && tab.id !== this.#tab.id) {
      this.#set(noPlan);
      // The other tab may have the same text, and its plan is to be asked for all the same.
      this.#wanted = undefined;
    }
    this.#tab = tab;
    this.#want(paramsOf(tab));
  };

  /** Asks for the same plan once more. */
  again = () => {
    this.#wanted = undefined;
    this.#want(paramsOf(this.#tab), 0);
  };

  /** The key, or token, of the page has changed. */
  takeKey = () => {
    if (this.#tab !== undefined) this.#want(paramsOf(this.#tab));
  };

  /** GraphiQL's fetcher, whose runs are traced while the panel is open. */
  trace = (fetcher) => tracing(fetcher, this.#begin);

  /** A run begins. Returns what takes its state; undefined if its trace is not wanted. */
  #begin = ({ query, variables = {}, operationName }, headers = {}) => {
    if (!this.#isOpen) return undefined;
    const params = { query, variables, operationName, credentials: credentialsOf(headers) };
    this.#want(params, 0);
    this.#runs += 1;
    const mine = this.#runs;
    return (run) => {
      if (mine === this.#runs) this.#set({ run, runKey: keyOf(params) });
    };
  };

  #want(params, pauseMs) {
    const wanted = params.problem ?? keyOf(params);
    if (!this.#isOpen || wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#requests.stop();
    if (params.problem !== undefined) this.#set({ isAsking: false, problem: params.problem, isPassing: false });
    else if (isBlank(params.query)) this.#set({ isAsking: false, ...noPlan });
    else {
      this.#set({ isAsking: true });
      this.#requests.want(params, pauseMs);
    }
  }

  #set(changes) {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}
