# Hedgerow in a container: built in the first stage, run by an unprivileged user in the second. Data lives in /data.
#
#   docker build -t hedgerow .
#   docker run -p 127.0.0.1:8000:8000 -v hedgerow-data:/data hedgerow
#
# The first start prints the first admin key once (docker logs), unless HEDGEROW_API_KEY gives it. `docker stop` lets running requests end.

# A long-term release of Node on Debian 13: the newer of the two uWebSockets.js binaries needs glibc 2.38, which Debian 12 lacks (there the older one, or
# node:http, would serve). A tag may move; a digest does not. To pin one, look it up once (docker buildx imagetools inspect node:24-trixie-slim) and build with
#   --build-arg NODE_IMAGE=node:24-trixie-slim@sha256:...
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY src/console/package.json ./src/console/
# What the service and the console are built from; no package of the build needs its install script.
RUN npm install --workspaces=true --workspace src/console --include-workspace-root --ignore-scripts --no-audit --no-fund
COPY asconfig.json tsconfig.json ./
COPY assembly ./assembly
COPY src ./src
RUN npm run build

FROM ${NODE_IMAGE}
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY LICENSE ./
COPY --from=build /app/build ./build
COPY --from=build /app/dist ./dist
RUN mkdir -m 700 /data && chown node:node /data

ENV NODE_ENV=production \
    HEDGEROW_DATA_DIR=/data \
    HEDGEROW_HOST=0.0.0.0 \
    HEDGEROW_PORT=8000
USER node
VOLUME /data
EXPOSE 8000
# By http or by https, whichever the service speaks; its certificate need not name this address.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "-e", "const ask = (scheme) => new Promise((resolve) => require(scheme).get({ host: '127.0.0.1', port: process.env.HEDGEROW_PORT, path: '/health/live', rejectUnauthorized: false }, (answer) => { answer.resume(); resolve(answer.statusCode === 200); }).on('error', () => resolve(false))); ask('http').then(async (live) => process.exit(live || (await ask('https')) ? 0 : 1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
