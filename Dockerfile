# docker build -t tuffet . ; docs/operations.md says how to run it.
FROM node:22-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --pack-destination /tmp

FROM node:22-slim
COPY --from=build /tmp/tuffet-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/tuffet-*.tgz \
    && rm -rf /tmp/tuffet-*.tgz /root/.npm \
    && install -d -o node -g node -m 700 /data
USER node
ENV NODE_ENV=production TUFFET_DATA=/data TUFFET_BIND=0.0.0.0
VOLUME /data
EXPOSE 5984
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:5984/_up').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tuffet"]
