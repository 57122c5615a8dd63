import { ApolloProvider } from '@apollo/client/react';
import { createRoot } from 'react-dom/client';
import { client } from './client.ts';
import { Dashboards } from './Dashboards.tsx';
import { LatestEvents } from './LatestEvents.tsx';
import { ProjectFacts } from './ProjectFacts.tsx';
import './page.css';

const root = document.getElementById('root');
if (root === null) throw new Error('expected an element #root');

createRoot(root).render(
  <ApolloProvider client={client}>
    <main>
      <Dashboards projectId="1" />
      <ProjectFacts id="1" />
      <LatestEvents projectId="1" />
    </main>
  </ApolloProvider>,
);
