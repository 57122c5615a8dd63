import { setTimeout } from 'node:timers/promises';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { proxyTo, signIn } from './dev/sign-in.ts';

const { PORT = '4000', GATEWAY_URL = `http://127.0.0.1:${PORT}`, API_KEY } = process.env;

/** Waits, ten seconds at most, until the gateway is there: they are started together. */
async function gatewayAnswers(tries = 50): Promise<void> {
  try {
    await fetch(`${GATEWAY_URL}/healthz`);
  } catch {
    if (tries === 0) return;
    await setTimeout(200);
    await gatewayAnswers(tries - 1);
  }
}

export default defineConfig(async ({ command }) => {
  if (command === 'serve') await gatewayAnswers();
  return {
    plugins: [react(), signIn()],
    server: { host: '127.0.0.1', proxy: { '/graphql': proxyTo(GATEWAY_URL, API_KEY) } },
    // Without the texts of fragments, which nothing uses.
    build: { rolldownOptions: { treeshake: { manualPureFunctions: ['TypedDocumentString'] } } },
  };
});
