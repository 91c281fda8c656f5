import { describeError } from '../lib/advice.js';
import { Text } from './text.js';

/** Shows an error where it happened: the server's own words, and what to do. */
export function ErrorBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === undefined || error === null) return null;
  const { title, reason, advice, request } = describeError(error);
  return (
    <div class="error-box" role="alert">
      <p>
        <strong>
          <Text value={title} />
        </strong>{' '}
        <Text value={reason} max={1000} />
      </p>
      {advice !== '' && <p>{advice}</p>}
      {request && (
        <p class="quiet">
          <code>
            <Text value={request} max={120} />
          </code>
        </p>
      )}
      {onRetry && (
        <button type="button" class="small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
