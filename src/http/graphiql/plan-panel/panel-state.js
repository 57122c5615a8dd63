const noPlan = { plan: undefined, planKey: undefined, problem: undefined };

/**
 * Runs in the page: the state of the panel "REST calls". While the panel is open, it has the plan of the open tab and
 * the calls of the latest run. Nothing is executed for a plan.
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

  /** Opens the panel. Returns the function that closes it. */
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

  /**
   * Takes a change of GraphiQL's tabs. The panel may show an older plan of the same tab in grey, but never shows the
   * plan of another tab.
   */
  takeTabs = ({ tabs, activeTabIndex }) => {
    const tab = tabs[activeTabIndex] ?? {};
    if (this.#tab?.id !== undefined && tab.id !== this.#tab.id) {
      this.#set(noPlan);
      // The new tab may have the same text as the previous one. Its plan is requested even then.
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

  /** Takes a change of the page's key or token. */
  takeKey = () => {
    if (this.#tab !== undefined) this.#want(paramsOf(this.#tab));
  };

  /** GraphiQL's fetcher, whose runs are traced while the panel is open. */
  trace = (fetcher) => tracing(fetcher, this.#begin);

  /**
   * Notes that a run begins. Returns the function that takes the state of the run; undefined if its trace is not
   * wanted.
   */
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
