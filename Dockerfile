# One image for all of our code (target `cloverlab`), and ZooKeeper behind the same supervisor (target `zookeeper`).

FROM node:20-bookworm-slim AS page
WORKDIR /page
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM python:3.11-slim-bookworm AS cloverlab
RUN apt-get update \
 && apt-get install -y --no-install-recommends nftables iproute2 libcap2-bin \
 && mkdir -p /usr/local/lib/cloverlab \
 && cp /usr/sbin/nft /sbin/tc /usr/local/lib/cloverlab/ \
 && setcap cap_net_admin+ep /usr/local/lib/cloverlab/nft \
 && setcap cap_net_admin+ep /usr/local/lib/cloverlab/tc \
 && apt-get purge -y libcap2-bin \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/*
WORKDIR /opt/cloverlab
COPY requirements.lock requirements-image.txt ./
RUN pip install --no-cache-dir --disable-pip-version-check -q -c requirements.lock -r requirements-image.txt
RUN useradd --uid 10001 --create-home cloverlab \
 && mkdir -p /data /run/secrets/cloverlab \
 && chown cloverlab /data /run/secrets/cloverlab \
 && chmod 700 /data /run/secrets/cloverlab
COPY nodes nodes
COPY backend backend
COPY benchmarks benchmarks
COPY scenarios scenarios
COPY --from=page /page/dist frontend/dist
RUN python3 -m compileall -q nodes backend
USER cloverlab
ENV PYTHONUNBUFFERED=1
CMD ["python3", "-m", "nodes.supervisor", "--help"]

FROM cloverlab AS zookeeper
USER root
RUN apt-get update \
 && mkdir -p /usr/share/man/man1 \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless zookeeper \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/*
USER cloverlab
