import { useEffect, useRef, useState } from 'react';

/** Announcements come at most so often, in milliseconds: a busy project would not let a listener do anything else. */
const distanceMs = 5000;

/** Tells listeners how many events have come. `told` counts all of them since the page was opened. */
export function Announcement({ told }: { readonly told: number }) {
  const [announced, setAnnounced] = useState({ told: 0, text: '' });
  const last = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (told === announced.told) return undefined;
    const timer = window.setTimeout(
      () => {
        last.current = performance.now();
        const count = told - announced.told;
        setAnnounced({ told, text: `${count} new ${count === 1 ? 'event' : 'events'}` });
      },
      Math.max(0, last.current + distanceMs - performance.now()),
    );
    return () => window.clearTimeout(timer);
  }, [told, announced.told]);
  return <output className="visually-hidden">{announced.text}</output>;
}
