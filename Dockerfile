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
COPY requirements.lock ./
RUN pip install --no-cache-dir --disable-pip-version-check -q --require-hashes -r requirements.lock
RUN useradd --uid 10001 --create-home cloverlab \
 && mkdir -p /data /run/secrets/cloverlab \
 && chown cloverlab /data /run/secrets/cloverlab \
 && chmod 700 /data /run/secrets/cloverlab
COPY pyproject.toml ./
COPY nodes nodes
COPY backend backend
COPY benchmarks benchmarks
COPY labs labs
COPY papers papers
COPY scenarios scenarios
COPY --from=page /page/dist frontend/dist
RUN python3 -m compileall -q nodes backend
USER cloverlab
ENV PYTHONUNBUFFERED=1
LABEL org.opencontainers.image.title="Cloverlab" \
      org.opencontainers.image.description="Highly available metadata services of cluster file systems, to watch and to break" \
      org.opencontainers.image.licenses="Apache-2.0"
EXPOSE 8080 9100
# The first process touches the file once a second. compose.yaml and the stack ask more often where others wait.
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=3 \
    CMD test -n "$(find /tmp/healthy -newermt '-6 seconds')"
CMD ["python3", "-m", "nodes.supervisor", "--help"]

# Debian's ZooKeeper and the part of Debian's headless Java that it uses.
FROM python:3.11-slim-bookworm AS java
RUN apt-get update \
 && mkdir -p /usr/share/man/man1 \
 && apt-get install -y --no-install-recommends openjdk-17-jdk-headless \
 && jlink --output /opt/java --no-man-pages --no-header-files --strip-java-debug-attributes --compress 2 \
    --add-modules java.base,java.logging,java.management,java.naming,java.security.jgss,java.security.sasl,java.xml,jdk.management,jdk.unsupported \
 && /opt/java/bin/java -Xshare:dump
WORKDIR /opt/debian
RUN apt-get download libzookeeper-java libslf4j-java libnetty-java libdropwizard-metrics-java libsnappy-java libcommons-cli-java \
 && for package in *.deb; do dpkg -x "$package" .; done \
 && mkdir -p /opt/zookeeper \
 && for name in zookeeper zookeeper-jute slf4j-api slf4j-simple netty-all metrics-core snappy-java commons-cli; do \
      cp -L "usr/share/java/$name.jar" /opt/zookeeper/; done

FROM cloverlab AS zookeeper
COPY --from=java /opt/java /opt/java
COPY --from=java /opt/zookeeper /usr/share/java
ENV PATH=/opt/java/bin:$PATH
