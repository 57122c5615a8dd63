# The gateway, without an upstream of its own: set UPSTREAM_URL, to `embedded` for its example data. The image holds what
# `npm pack` packs, with the versions of package-lock.json.
# To update: the exact version that package.json names in optionalDependencies, so that images and tests run the same Node.
# To build from exactly one image, name its digest, which `docker buildx imagetools inspect node:26.10.0-slim` prints:
# docker build --build-arg NODE_IMAGE=node:26.10.0-slim@sha256:… .
ARG NODE_IMAGE=node:26.10.0-slim
FROM ${NODE_IMAGE} AS package

WORKDIR /repository
COPY LICENSE README.md package.json package-lock.json tsconfig.json tsconfig.package.json ./
COPY tools tools
COPY workspace workspace
RUN npm ci --omit=optional --ignore-scripts
COPY schema schema
COPY src src
RUN npm pack && mkdir /gateway && tar xzf *.tgz -C /gateway --strip-components=1
RUN cd /gateway && npm ci --omit=optional --ignore-scripts

FROM ${NODE_IMAGE}

ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /gateway

COPY --from=package /gateway ./

USER node
EXPOSE 4000
# By a shell: to start a Node each time would cost more than a small gateway does.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${PORT:-4000} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
# Without the option, the process would take 25 MiB more under load.
CMD ["node", "--max-semi-space-size=16", "dist/src/main.js"]
