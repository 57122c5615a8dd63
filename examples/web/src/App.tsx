import { useSyncExternalStore } from 'react';
import { ProjectLinks } from './projects/ProjectLinks.tsx';
import { ProjectPage } from './projects/ProjectPage.tsx';
import { useProjects } from './projects/useProjects.ts';

/** The projects on the left, and the one that the address names (`#1`), or the first. */
export function App() {
  const projects = useProjects();
  const selected = useAddress() || projects.nodes[0]?.upstreamId;
  return (
    <div className="layout">
      <aside>
        <p className="brand">Workspace</p>
        <ProjectLinks projects={projects} selected={selected} />
      </aside>
      <main>{selected !== undefined && <ProjectPage key={selected} id={selected} />}</main>
    </div>
  );
}

/** What follows the `#` in the address. */
function useAddress(): string {
  return useSyncExternalStore(
    (onChange) => {
      window.addEventListener('hashchange', onChange);
      return () => window.removeEventListener('hashchange', onChange);
    },
    () => window.location.hash.slice(1),
  );
}
