import { type ExecutionArgs, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Lifetime } from '../rest/lifetime.ts';

/** Runs operations with graphql's own executor, and stops their clocks when they are done. */
export function useExecution(): Plugin<{ lifetime?: Lifetime }> {
  return {
    onExecute: ({ setExecuteFn }) => {
      setExecuteFn((args: ExecutionArgs) => execute(args));
      return {
        onExecuteDone: ({ args }) => {
          args.contextValue.lifetime?.finish();
        },
      };
    },
  };
}
