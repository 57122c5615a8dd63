import { GatewayError, isAway } from '../gateway/GatewayError.ts';

/** Explanations of error codes, for readers. For other codes the message of the error is shown. */
const explanations: Readonly<Record<string, string>> = {
  FORBIDDEN: 'You may not do that here.',
  GATEWAY_UNAVAILABLE: 'The server does not answer. This page tries again by itself.',
  OVERLOADED: 'The server is busy.',
  RATE_LIMITED: 'Too much was read in the last minute.',
  UNAUTHENTICATED: 'You are signed out. Load the page again to sign in.',
  UPSTREAM_TIMEOUT: 'The analytics service took too long to answer.',
  UPSTREAM_UNAVAILABLE: 'The analytics service cannot be reached right now.',
};

/** The text about an error, for readers. */
export function explain(error: Error | undefined): string | undefined {
  const code = error instanceof GatewayError ? error.code : '';
  return explanations[code] ?? error?.message;
}

interface FailureProps {
  /** The noun of the rows that could not be loaded, such as `events`. */
  readonly what: string;
  readonly error: Error | undefined;
  /** True if the rest of it is there. */
  readonly isPartial: boolean;
  readonly isRetrying: boolean;
  readonly onRetry: () => void;
}

/** Says what went wrong, with a button that tries again unless the page does. */
export function Failure({ what, error, isPartial, isRetrying, onRetry }: FailureProps) {
  const { code, retryAfter } = error instanceof GatewayError ? error : {};
  return (
    <div className="failure" role="alert">
      <p>
        <strong>
          {isPartial ? `Not everything of the ${what} could be loaded.` : `The ${what} could not be loaded.`}
        </strong>
        <br />
        {explain(error)}
        {retryAfter !== undefined && ` Try again in ${retryAfter} seconds.`}
        {code !== undefined && <code>{code}</code>}
      </p>
      {!isAway(error) && (
        <button type="button" onClick={onRetry} aria-disabled={isRetrying}>
          {isRetrying ? 'Trying…' : 'Try again'}
        </button>
      )}
    </div>
  );
}
