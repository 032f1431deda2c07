# Hedgerow in a container: built in the first stage, run by an unprivileged user in the second. Data lives in /data.
#
#   docker build -t hedgerow .
#   docker run -p 127.0.0.1:8000:8000 -v hedgerow-data:/data hedgerow
#
# The first start prints the first admin key once (docker logs), unless HEDGEROW_API_KEY gives it. `docker stop` lets running requests end.

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package of the build needs its install script; better-sqlite3 (benchmarks only) would want a compiler.
RUN npm install --ignore-scripts --no-audit --no-fund
COPY asconfig.json tsconfig.json ./
COPY assembly ./assembly
COPY src ./src
RUN npm run build

FROM node:20-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY LICENSE ./
COPY --from=build /app/build ./build
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data

ENV NODE_ENV=production \
    HEDGEROW_DATA_DIR=/data \
    HEDGEROW_HOST=0.0.0.0 \
    HEDGEROW_PORT=8000
USER node
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.HEDGEROW_PORT + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
