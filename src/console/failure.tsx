// The box that every view uses for errors: a sentence with what went wrong and what to do next.

import { HedgerowApiError, HedgerowConnectionError } from '../client/index.ts';
import type { ComponentChildren } from './preact.ts';

/** Returns a sentence for the user that describes any thrown value. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HedgerowApiError) {
    if (error.code === undefined) return sentenceOfOther(error);
    const fields = error.errors
      .filter(({ msg }) => !error.detail.includes(msg))
      .map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`);
    const advice = ADVICE[error.statusCode];
    return [error.detail, ...fields, ...(advice === undefined ? [] : [advice])].join(' ');
  }
  if (error instanceof HedgerowConnectionError) return `${error.message} Is the service running?`;
  // Our own messages all end with a full stop. A message without one is from the browser: the page
  // has read a field that is missing from an answer.
  if (error instanceof TypeError && !error.message.endsWith('.')) return UNEXPECTED;
  return error instanceof Error ? error.message : String(error);
}

const UNEXPECTED =
  'The answer of the service does not look as it should. Try again in a moment; if that fails, reload the page, or ask whoever runs the service.';

/** Describes an answer of a proxy in front of the service: a page, a word, or nothing. */
function sentenceOfOther({ statusCode, detail }: HedgerowApiError): string {
  const said = detail === '' || detail.startsWith('<') ? '' : `: ${detail}`;
  return `Status ${statusCode} came instead of an answer of the service${said}. Try again in a moment; if that fails, ask whoever runs the service.`;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: 'Sign out and sign in with a valid key.',
  403: 'Sign in with a key of that role.',
};

export function Failure({ error, title = 'That did not work' }: { error: unknown; title?: string }) {
  if (error === undefined || error === null) return null;
  return (
    <div class="note note-bad" role="alert">
      <strong>{title}.</strong> {sentenceOf(error)}
    </div>
  );
}

/** Tells the user that there is nothing to show, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}
