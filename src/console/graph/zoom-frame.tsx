// A frame around a picture that can be moved and zoomed: by pointer, wheel, two fingers, keys and
// buttons.

import { type ComponentChildren, useEffect, useRef, useState } from '../preact.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Props {
  /** The box of everything that is drawn. When it changes, the picture is fitted to it. */
  readonly content: Box;
  readonly pictureClass: string;
  /** A point that must be visible: the picture is moved if it is not. */
  readonly focus: { readonly x: number; readonly y: number } | undefined;
  /** Describes the picture to users who cannot see it. */
  readonly label: string;
  /** A short text below the picture about the part under the pointer. */
  readonly caption: ComponentChildren;
  /** Called for a click on the background. */
  readonly onBackground: () => void;
  readonly children: ComponentChildren;
}

const STEP = 1.25;
const CLOSEST = 24;
const FARTHEST = 3;
/** A pointer that moves less than this counts as still. */
const STILL_PX = 4;

export function ZoomFrame({ content, focus, pictureClass, label, caption, onBackground, children }: Props) {
  const picture = useRef<SVGSVGElement>(null);
  const [box, setBox] = useState(content);
  useEffect(
    () => setBox(firstBox(content, picture.current!)),
    [content.left, content.top, content.width, content.height],
  );
  useEffect(() => {
    if (focus !== undefined) setBox((now) => (isIn(focus, now) ? now : around(focus, now)));
  }, [focus?.x, focus?.y]);
  const isWhole = box === content;
  const zoom = (factor: number, x?: number, y?: number) =>
    setBox((now) => zoomed(now, content, factor, picture.current!, x, y));
  const move = (dx: number, dy: number) =>
    setBox((now) => {
      const scale = scaleOf(now, picture.current!);
      return { ...now, left: now.left - dx * scale, top: now.top - dy * scale };
    });
  const pointers = usePointers(move, zoom);
  const byKey = (event: KeyboardEvent) => {
    const act = KEYS[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (act.kind === 'fit') setBox(content);
    else if (act.kind === 'zoom') zoom(act.factor);
    else move(act.dx, act.dy);
  };
  return (
    <div class="zoom-frame">
      <section
        class="zoom-ground"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys act on the focused element.
        tabIndex={0}
        aria-label={`${label} Arrow keys move the picture, plus and minus zoom, 0 shows all of it.`}
        onKeyDown={byKey}
        onWheel={(event) => {
          // Without Ctrl the wheel scrolls the page, unless the picture has the focus.
          if (!event.ctrlKey && !event.metaKey && document.activeElement !== event.currentTarget) return;
          event.preventDefault();
          zoom(STEP ** (-event.deltaY / 100), event.clientX, event.clientY);
        }}
        {...pointers.handlers}
      >
        <svg
          ref={picture}
          class={pictureClass}
          viewBox={`${box.left.toFixed(2)} ${box.top.toFixed(2)} ${box.width.toFixed(2)} ${box.height.toFixed(2)}`}
          aria-hidden="true"
          onClick={(event) => {
            if (!pointers.hasMoved() && event.target === event.currentTarget) onBackground();
          }}
        >
          {children}
        </svg>
      </section>
      <div class="zoom-foot">
        <p class="zoom-caption" aria-hidden="true">
          {caption}
        </p>
        <ZoomButtons isWhole={isWhole} onZoom={zoom} onFit={() => setBox(content)} />
      </div>
    </div>
  );
}

interface ButtonProps {
  readonly isWhole: boolean;
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
}

function ZoomButtons({ isWhole, onZoom, onFit }: ButtonProps) {
  return (
    <>
      <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => onZoom(STEP ** 2)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => onZoom(STEP ** -2)}>
        −
      </button>
      <button type="button" disabled={isWhole} title="Show all of it (0)" onClick={onFit}>
        Fit
      </button>
    </>
  );
}

/**
 * Frames narrower than this first show only a part of the picture, large enough to be read. The
 * user moves the picture to see the rest.
 */
const NARROW_PX = 500;
const MOST_UNITS_IN_PX = 1.35;

function firstBox(content: Box, picture: SVGSVGElement): Box {
  const { clientWidth: width, clientHeight: height } = picture;
  if (width >= NARROW_PX || width === 0 || scaleOf(content, picture) <= MOST_UNITS_IN_PX) return content;
  const shown = { width: width * MOST_UNITS_IN_PX, height: height * MOST_UNITS_IN_PX };
  return {
    left: content.width <= shown.width ? content.left - (shown.width - content.width) / 2 : content.left,
    top: content.height <= shown.height ? content.top - (shown.height - content.height) / 2 : content.top,
    ...shown,
  };
}

function isIn({ x, y }: Place, { left, top, width, height }: Box): boolean {
  return x > left && x < left + width && y > top && y < top + height;
}

function around({ x, y }: Place, { width, height }: Box): Box {
  return { left: x - width / 2, top: y - height / 2, width, height };
}

type KeyAct =
  | { readonly kind: 'fit' }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'move'; readonly dx: number; readonly dy: number };

const KEYS: Readonly<Record<string, KeyAct | undefined>> = {
  '0': { kind: 'fit' },
  '+': { kind: 'zoom', factor: STEP },
  '=': { kind: 'zoom', factor: STEP },
  '-': { kind: 'zoom', factor: 1 / STEP },
  ArrowLeft: { kind: 'move', dx: 50, dy: 0 },
  ArrowRight: { kind: 'move', dx: -50, dy: 0 },
  ArrowUp: { kind: 'move', dx: 0, dy: 50 },
  ArrowDown: { kind: 'move', dx: 0, dy: -50 },
};

/** Returns the number of picture units in a pixel of the page. */
function scaleOf(box: Box, picture: SVGSVGElement): number {
  return Math.max(box.width / Math.max(1, picture.clientWidth), box.height / Math.max(1, picture.clientHeight));
}

/** Returns the box after zooming. The point (x, y), by default the middle, stays where it is. */
function zoomed(now: Box, content: Box, factor: number, picture: SVGSVGElement, x?: number, y?: number): Box {
  const width = Math.min(content.width * FARTHEST, Math.max(content.width / CLOSEST, now.width / factor));
  const ratio = width / now.width;
  const frame = picture.getBoundingClientRect();
  const scale = scaleOf(now, picture);
  const middle = { x: now.left + now.width / 2, y: now.top + now.height / 2 };
  const at = {
    x: x === undefined ? middle.x : middle.x + (x - frame.left - frame.width / 2) * scale,
    y: y === undefined ? middle.y : middle.y + (y - frame.top - frame.height / 2) * scale,
  };
  return {
    left: at.x - (at.x - now.left) * ratio,
    top: at.y - (at.y - now.top) * ratio,
    width,
    height: now.height * ratio,
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Returns event handlers with which one pointer moves the picture and two pointers zoom it. */
function usePointers(
  move: (dx: number, dy: number) => void,
  zoom: (factor: number, x: number, y: number) => void,
): { readonly handlers: object; readonly hasMoved: () => boolean } {
  const down = useRef(new Map<number, Place>());
  const way = useRef(0);
  const leave = (event: PointerEvent) => down.current.delete(event.pointerId);
  const follow = (event: PointerEvent) => {
    const before = down.current.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    way.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (way.current > STILL_PX) (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const factor = distance(now, other) / Math.max(1, distance(before, other));
      zoom(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    const share = other === undefined ? 1 : 0.5;
    move((now.x - before.x) * share, (now.y - before.y) * share);
    down.current.set(event.pointerId, now);
  };
  return {
    hasMoved: () => way.current > STILL_PX,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        if (down.current.size === 0) way.current = 0;
        down.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove: follow,
      onPointerUp: leave,
      onPointerCancel: leave,
      onPointerLeave: leave,
    },
  };
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
