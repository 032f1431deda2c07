// The entry point of the console: finds out whether a key is needed, then shows the sign-in or the
// console.

import { render, useEffect, useState } from './preact.ts';
import { hasLooked, resumeSession, session } from './session.ts';
import { fetchView, Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { startTheme } from './theme.ts';

function Console() {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  useEffect(() => {
    void resumeSession().then(setProblem);
  }, []);
  if (session.value !== undefined) return <Shell />;
  if (!hasLooked.value) return <p class="waiting">Looking for the service ...</p>;
  return <SignIn problem={problem} />;
}

startTheme();
fetchView();
render(<Console />, document.getElementById('console')!);
