// Catches the errors of a part of the page, so that the rest of the page is still shown.

import { type ComponentChildren, useEffect, useErrorBoundary } from './preact.ts';

/**
 * Shows its children, or a message if they throw. It tries to show them again when the user asks
 * for it, and when `of`, the value that the children show, changes.
 */
export function Boundary({ of, children }: { of?: unknown; children: ComponentChildren }) {
  const [error, beginAnew] = useErrorBoundary();
  useEffect(beginAnew, [of]);
  if (error === undefined) return <>{children}</>;
  return (
    <div class="note note-bad" role="alert">
      <p>
        <strong>This cannot be shown.</strong> The answer of the service does not look as it should. Try again; if that
        fails, reload the page, or ask whoever runs the service.
      </p>
      <button type="button" onClick={beginAnew}>
        Try again
      </button>
    </div>
  );
}
