// Keeps a part of the page that cannot be shown from taking the rest of the page with it.

import { type ComponentChildren, useEffect, useErrorBoundary } from './preact.ts';

/**
 * Begins its part anew on request, with what the service says then, and when there is another thing
 * `of` which it is.
 */
export function Boundary({ of, children }: { of?: unknown; children: ComponentChildren }) {
  const [error, beginAnew] = useErrorBoundary();
  useEffect(beginAnew, [of]);
  if (error === undefined) return <>{children}</>;
  return (
    <div class="note note-bad" role="alert">
      <p>
        <strong>This cannot be shown.</strong> What came from the service does not look as it should. Try again; if it
        stays so, load the page anew, or ask who runs the service.
      </p>
      <button type="button" onClick={beginAnew}>
        Try again
      </button>
    </div>
  );
}
