import type { ClientRequest, IncomingMessage } from "node:http";
import type { ProxyOptions } from "vite";

const LOCAL = /^(127\.0\.0\.1|localhost|\[::1\]):\d+$/i;

/** What the control plane is told about the caller of the development server: its own page counts as the control plane's, any other stays what it is, and is refused there. */
export function passedOn(
  host: string,
  origin: string | undefined,
  target: URL,
): { host: string; origin?: string } {
  if (!LOCAL.test(host)) return { host, origin };
  return { host: target.host, origin: origin === `http://${host}` ? target.origin : origin };
}

/** The proxy of the development server to the control plane. */
export function toControlPlane(controlPlane: string): ProxyOptions {
  const target = new URL(controlPlane);
  return {
    target: controlPlane,
    ws: true,
    configure: (proxy) => {
      for (const kind of ["proxyReq", "proxyReqWs"] as const)
        proxy.on(kind, (outgoing: ClientRequest, request: IncomingMessage) => {
          const { host, origin } = passedOn(request.headers.host ?? "", request.headers.origin, target);
          outgoing.setHeader("host", host);
          if (origin !== undefined) outgoing.setHeader("origin", origin);
        });
    },
  };
}
