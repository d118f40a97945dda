# Runs `npm run serve`. docs/own-server.md says how.
FROM node:24-slim AS build
WORKDIR /service
COPY . .
RUN npm ci --no-audit --no-fund && npm run build:console && npm prune --omit=dev --no-audit --no-fund

FROM node:24-slim
COPY --from=build /service /service
WORKDIR /service
RUN mkdir /data && chown node:node /data
USER node
ENV STATE_DIR=/data HOST=0.0.0.0 PORT=8787
VOLUME /data
EXPOSE 8787
HEALTHCHECK --start-period=60s --interval=30s CMD ["node", "--eval", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--import", "./scripts/need-node.js", "scripts/serve.ts"]
