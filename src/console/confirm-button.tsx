// A button that asks for confirmation before an action that cannot be undone.

import { useEffect, useRef, useState } from './preact.ts';

interface Props {
  readonly label: string;
  /** What the button acts on, for users of screen readers. */
  readonly what: string;
  readonly onConfirm: () => void;
}

/** How long the button waits for the confirmation. */
const PATIENCE_MS = 6000;

export function ConfirmButton({ label, what, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const click = () => {
    clearTimeout(timer.current);
    if (isAsking) onConfirm();
    else timer.current = window.setTimeout(() => setAsking(false), PATIENCE_MS);
    setAsking(!isAsking);
  };
  return (
    <button type="button" class={isAsking ? 'danger' : 'plain danger'} onClick={click}>
      {isAsking ? `Really ${label.toLowerCase()}?` : label}
      <span class="sr-only"> {what}</span>
    </button>
  );
}
