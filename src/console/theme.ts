// Selects the dark or light theme: the system's preference, until the user switches.

import { effect, signal } from './preact.ts';

export type Theme = 'light' | 'dark';

const STORED = 'hedgerow.theme';
const preference = matchMedia('(prefers-color-scheme: dark)');
const stored = localStorage.getItem(STORED);

export const theme = signal<Theme>(
  stored === 'dark' || stored === 'light' ? stored : preference.matches ? 'dark' : 'light',
);

export function startTheme(): void {
  preference.addEventListener('change', ({ matches }) => {
    if (localStorage.getItem(STORED) === null) theme.value = matches ? 'dark' : 'light';
  });
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function switchTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(STORED, theme.value);
}

/** Returns a colour of the style sheet, for drawing on a canvas. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
