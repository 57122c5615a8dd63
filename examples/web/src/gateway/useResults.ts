import { useCallback, useSyncExternalStore } from 'react';
import type { Answer, Result } from './Answer.ts';

/**
 * The results of some answers so far. The component is drawn again whenever one of them has more. The array has to be
 * the same one until the answers are others.
 */
export function useResults<Data>(answers: readonly Answer<Data>[]): readonly Result<Data>[] {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const ends = answers.map((answer) => answer.subscribe(onChange));
      return () => {
        for (const end of ends) end();
      };
    },
    [answers],
  );
  useSyncExternalStore(subscribe, () => answers.reduce((sum, { parts }) => sum + parts, 0));
  return answers.map(({ result }) => result);
}
