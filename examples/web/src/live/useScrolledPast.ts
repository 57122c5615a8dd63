import { type RefObject, useEffect, useState } from 'react';

/** True if an element has left the window at its top, because the reader is further down. */
export function useScrolledPast(element: RefObject<Element | null>): boolean {
  const [isPast, setIsPast] = useState(false);
  useEffect(() => {
    // All that is below the window counts as in it: a leap from there to above it is to be noticed.
    const options = { rootMargin: '0px 0px 1000000px 0px' };
    const observer = new IntersectionObserver(
      (entries) => setIsPast(entries.at(-1)?.isIntersecting === false),
      options,
    );
    if (element.current !== null) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isPast;
}
