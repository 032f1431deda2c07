// Re-exports what the console uses of the view library: components, hooks and signals. Other files
// import it from here.

export { computed, effect, type ReadonlySignal, type Signal, signal, useSignal } from '@preact/signals';
export type { ComponentChildren, ComponentType, JSX, TargetedEvent } from 'preact';
export { render } from 'preact';
export { useEffect, useErrorBoundary, useId, useMemo, useRef, useState } from 'preact/hooks';
