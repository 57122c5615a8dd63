# The gateway, without an upstream of its own: set UPSTREAM_URL. Node runs the TypeScript as it is; nothing is built.
# To update: the exact version that package.json names in optionalDependencies, so that images and tests run the same Node.
# What `docker buildx imagetools inspect node:26.10.0-slim` prints as digest can stand behind it, as @sha256:….
FROM node:26.10.0-slim

ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /gateway

COPY package.json package-lock.json ./
COPY workspace workspace
RUN npm ci --omit=dev --omit=optional --workspace=workspace --include-workspace-root --ignore-scripts && npm cache clean --force
COPY schema schema
COPY src src

USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
