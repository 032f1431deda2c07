// Says in the header that the service cannot be reached, and looks for it again on request.

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
    // What could not be asked meanwhile is asked now.
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
