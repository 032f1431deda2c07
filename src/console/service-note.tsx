// Shows in the header that the service cannot be reached, with a button that tries again.

import './style/views.css';
import { timeText } from './format.ts';
import { useEffect, useRef, useState } from './preact.ts';
import { goneSince } from './service-state.ts';
import { lookForService, watchService } from './service-watch.ts';
import { dataChanged } from './state.ts';

export function ServiceNote() {
  const since = goneSince.value;
  useEffect(watchService, []);
  const wasGone = useRef(false);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    // The service can be reached again, so requests that failed meanwhile are repeated.
    if (since === undefined && wasGone.current) void dataChanged();
    wasGone.current = since !== undefined;
  }, [since]);
  const retry = async () => {
    setBusy(true);
    await lookForService();
    setBusy(false);
  };
  return (
    <span role="status" class="service-note">
      {since !== undefined && (
        <>
          <span>
            Service not reachable<span class="since"> since {timeText(since / 1000).slice(11)} UTC</span>
          </span>
          <button type="button" disabled={isBusy} onClick={retry}>
            {isBusy ? 'Looking ...' : 'Retry'}
          </button>
        </>
      )}
    </span>
  );
}
