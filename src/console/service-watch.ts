// Checks now and then whether the service can be reached, even when the user makes no request.

import { goneSince, isOfService, note } from './service-state.ts';

/** Pauses between two checks: while the service answers, and while it does not. */
const PAUSE_MS = 20_000;
const GONE_PAUSE_MS = 5000;
const PATIENCE_MS = 10_000;

/** Sends one small request that needs no key. */
export async function lookForService(): Promise<void> {
  const init = { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(PATIENCE_MS) } as const;
  try {
    note(isOfService(await fetch('health/live', init)));
  } catch {
    note(false);
  }
}

/**
 * Starts the checks: more often while the service is unreachable, and none while the page is
 * hidden. Returns a function that ends them.
 */
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
  // Starts the first pause, and a new one whenever the service is lost or found again.
  const unfollow = goneSince.subscribe(wait);
  return () => {
    isOver = true;
    unfollow();
    clearTimeout(timer);
  };
}
