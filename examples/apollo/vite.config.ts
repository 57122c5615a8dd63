import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

const { PORT = '4000', GATEWAY_URL = `http://127.0.0.1:${PORT}`, API_KEY = 'phx_demo_fernweh_travel' } = process.env;

// The key is added on the way to the gateway, so that no browser ever has it. In production your own server does this.
const graphql: ProxyOptions = {
  target: GATEWAY_URL,
  headers: { authorization: `Bearer ${API_KEY}` },
  configure: (proxy) => {
    // A stream that the gateway breaks off would otherwise stay open here, and the page would wait for ever.
    proxy.on('proxyRes', (received, _request, response) => received.on('close', () => response.destroy()));
  },
};

export default defineConfig({ plugins: [react()], server: { host: '127.0.0.1', proxy: { '/graphql': graphql } } });
