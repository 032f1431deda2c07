// A frame that scrolls by itself: reachable by key, and named for those who cannot see it.

import type { ComponentChildren } from './preact.ts';

interface Props {
  readonly label: string;
  /** How tall it may grow; default as tall as a view. */
  readonly height?: 'short' | 'whole';
  readonly children: ComponentChildren;
}

export function Scrolling({ label, height, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by key.
    <section class={`grid-frame${height === undefined ? '' : ` grid-${height}`}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
