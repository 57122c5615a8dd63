import { useEffect, useRef, useState } from 'react';
import { type Pages, usePages } from '../gateway/usePages.ts';
import { type EventRowFragment, EventsDocument } from '../generated/graphql.ts';
import { joinRows, keyOf, mostKept, type Row } from '../live/rows.ts';
import { type LiveEvents, useLiveEvents } from '../live/useLiveEvents.ts';

/** The events of a project: those that were read, and those that came since. */
export interface Events {
  readonly rows: readonly Row[];
  /** The number of events that wait to be shown. */
  readonly waiting: number;
  readonly pages: Pages<EventRowFragment>;
  readonly live: LiveEvents;
  readonly isPaused: boolean;
  readonly setIsPaused: (isPaused: boolean) => void;
  /** True if so many events came by themselves that the ones of the list are dropped. */
  readonly isFull: boolean;
  /** Reads the list again, and forgets what came since. */
  readonly reload: () => void;
}

/** Milliseconds that the list waits for its stream at most. */
const timeoutMs = 2000;

/**
 * Follows the events of a project, and then reads the list: no event falls between the two. If the stream does not come
 * soon the list is read without it, and again once the stream has come. If the reader `isBelow` the first rows, or pauses,
 * new ones wait.
 */
export function useEvents(projectId: string, isBelow: boolean): Events {
  const [isPaused, setIsPaused] = useState(false);
  const live = useLiveEvents(projectId, isPaused || isBelow);
  const isLate = useIsLate(timeoutMs);
  const enabled = live.connection !== 'connecting' || isLate;
  const pages = usePages(EventsDocument, { projectId }, ({ project }) => project?.events, { enabled, isAnew: true });
  const { refetch, fetchNextPage, isFetchingNextPage } = pages.query;
  /** Behind which beginning of the stream the list was read. */
  const readBehind = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (!enabled) return;
    const isBehind = readBehind.current !== undefined && readBehind.current < live.beginnings;
    readBehind.current = live.beginnings;
    if (!isBehind) return;
    // It cancels the page that is on its way, which the reader has asked for.
    const again = refetch();
    if (isFetchingNextPage) void again.then(() => fetchNextPage());
  }, [enabled, live.beginnings, refetch, fetchNextPage, isFetchingNextPage]);
  const isFull = live.rows.length >= mostKept;
  const rows = isFull ? live.rows : joinRows(live.rows, pages.nodes);
  const known = new Set(rows.map(keyOf));
  return {
    rows,
    waiting: live.held.filter((row) => !known.has(keyOf(row))).length,
    pages,
    live,
    isPaused,
    setIsPaused,
    isFull,
    reload: () => {
      live.clear();
      pages.readAnew();
    },
  };
}

function useIsLate(milliseconds: number): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsLate(true), milliseconds);
    return () => window.clearTimeout(timer);
  }, [milliseconds]);
  return isLate;
}
