import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { tryAgain } from './gateway/tryAgain.ts';
import './app.css';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      ...tryAgain,
      // A key may make few REST calls a minute, so nothing is read again behind the reader's back.
      staleTime: 60_000,
      refetchOnWindowFocus: false,
      // A browser that thinks it is offline shows the failure instead of waiting.
      networkMode: 'always',
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('expected an element #root');

// Without StrictMode: it mounts everything twice, which would cancel the first queries and send them again.
createRoot(root).render(
  <QueryClientProvider client={queryClient}>
    <App />
  </QueryClientProvider>,
);
