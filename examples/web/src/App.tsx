import { useSyncExternalStore } from 'react';
import { isSignedOut } from './gateway/GatewayError.ts';
import { ProjectLinks } from './projects/ProjectLinks.tsx';
import { ProjectPage } from './projects/ProjectPage.tsx';
import { useProjects } from './projects/useProjects.ts';
import { SignIn, SignOut } from './SignIn.tsx';

/** The projects on the left, and the one that the address names (`#1`), or the first; a form until someone has signed in. */
export function App() {
  const projects = useProjects();
  const selected = useAddress() || projects.nodes[0]?.upstreamId;
  if (isSignedOut(projects.query.error)) return <SignIn />;
  return (
    <div className="layout">
      <aside>
        <p className="brand">Workspace</p>
        <ProjectLinks projects={projects} selected={selected} />
        <SignOut />
      </aside>
      <main>{selected !== undefined && <ProjectPage key={selected} id={selected} />}</main>
    </div>
  );
}

/** The part of the address behind the `#`. */
function useAddress(): string {
  return useSyncExternalStore(
    (onChange) => {
      window.addEventListener('hashchange', onChange);
      return () => window.removeEventListener('hashchange', onChange);
    },
    () => window.location.hash.slice(1),
  );
}
