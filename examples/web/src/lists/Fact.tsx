import type { ReactNode } from 'react';
import type { FactState } from './factState.ts';

interface FactProps {
  readonly name: string;
  readonly state: FactState;
  readonly children: ReactNode;
}

/** A fact in a list of them. Its room is the same before it has come. */
export function Fact({ name, state, children }: FactProps) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd aria-busy={state === 'coming'}>
        {state === 'coming' && (
          <span className="bar">
            <span className="visually-hidden">Loading…</span>
          </span>
        )}
        {state === 'there' && children}
        {state === 'lost' && <span className="lost">Not loaded</span>}
      </dd>
    </div>
  );
}
