// A frame that scrolls separately from the page. It can be focused with the Tab key, and has a
// label for users who cannot see it.

import type { ComponentChildren } from './preact.ts';

interface Props {
  readonly label: string;
  /** Maximum height of the frame; default: the height of a view. */
  readonly height?: 'short' | 'whole';
  readonly children: ComponentChildren;
}

export function Scrolling({ label, height, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: only a focused frame scrolls by keys.
    <section class={`grid-frame${height === undefined ? '' : ` grid-${height}`}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
