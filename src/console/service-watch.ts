// Looks for the service now and then, so that the page knows whether it can be reached though
// nobody asks for anything.

import { goneSince, isOfService, note } from './service-state.ts';

/** Between two looks while the service answers, and while it does not. */
const PAUSE_MS = 20_000;
const GONE_PAUSE_MS = 5000;
const PATIENCE_MS = 10_000;

/** One small question that takes no key. */
export async function lookForService(): Promise<void> {
  const init = { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(PATIENCE_MS) } as const;
  try {
    note(isOfService(await fetch('health/live', init)));
  } catch {
    note(false);
  }
}

/** More often while it is gone; not while nobody sees the page. Answers what ends it. */
export function watchService(): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(look, goneSince.value === undefined ? PAUSE_MS : GONE_PAUSE_MS);
  };
  const look = async () => {
    if (!document.hidden) await lookForService();
    if (!isOver) wait();
  };
  // A failed request is a reason to look sooner.
  const unfollow = goneSince.subscribe(wait);
  return () => {
    isOver = true;
    unfollow();
    clearTimeout(timer);
  };
}
