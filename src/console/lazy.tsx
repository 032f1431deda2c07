// Components whose code is fetched when they are first shown.

import { Failure } from './failure.tsx';
import { type ComponentType, useEffect, useState } from './preact.ts';

export const NOT_LOADED = 'Reload the page: the service may have been updated meanwhile, or it cannot be reached.';

/**
 * Returns a component that calls `load` when it is first shown, then shows the loaded component.
 * Until then it shows `waiting`, or nothing if that is empty.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting = 'Loading ...',
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const [part, setPart] = useState<{ readonly Component: ComponentType<Props> } | undefined>(undefined);
    const [error, setError] = useState<unknown>(undefined);
    useEffect(() => {
      load().then((Component) => setPart({ Component }), setError);
    }, []);
    if (error !== undefined) return <Failure error={NOT_LOADED} title="This view could not be loaded" />;
    if (part === undefined) return waiting === '' ? null : <p class="waiting">{waiting}</p>;
    return <part.Component {...props} />;
  };
}
