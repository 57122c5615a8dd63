/** A tab that is hidden for so many milliseconds gives its connection back: browsers have six for all tabs of a host. */
const hiddenMs = 60_000;

/**
 * Calls `start` now and whenever the page is looked at again, and `stop` once it has been hidden for a minute or is left.
 * Either may be called twice in a row. The returned function ends that, and calls `stop`.
 */
export function watchPage(start: () => void, stop: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  let timer = 0;
  const onVisibility = (): void => {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(stop, hiddenMs);
    else start();
  };
  document.addEventListener('visibilitychange', onVisibility, { signal });
  window.addEventListener('pagehide', stop, { signal });
  window.addEventListener('pageshow', start, { signal });
  start();
  return () => {
    window.clearTimeout(timer);
    over.abort();
    stop();
  };
}
