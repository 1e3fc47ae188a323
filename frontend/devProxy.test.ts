import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createVite } from "vite";
import { expect, test } from "vitest";
import { passedOn, toControlPlane } from "./devProxy";

const TARGET = new URL("http://127.0.0.1:8080");

test("the development server vouches for its own page alone", () => {
  expect(passedOn("localhost:5173", "http://localhost:5173", TARGET)).toEqual({
    host: "127.0.0.1:8080",
    origin: "http://127.0.0.1:8080",
  });
  for (const origin of ["http://evil.example", "http://localhost:9999", "https://localhost:5173", "null"])
    expect(passedOn("localhost:5173", origin, TARGET).origin).toBe(origin);
  expect(passedOn("evil.example:5173", "http://evil.example:5173", TARGET)).toEqual({
    host: "evil.example:5173",
    origin: "http://evil.example:5173",
  });
});

test("a foreign site's request reaches the control plane with its own origin", async () => {
  const control = createServer((request, response) => response.end(request.headers.origin ?? "none"));
  await new Promise<void>((done) => control.listen(0, "127.0.0.1", done));
  const controlPlane = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  const vite = await createVite({
    configFile: false,
    logLevel: "silent",
    server: { host: "127.0.0.1", port: 0, proxy: { "/api": toControlPlane(controlPlane) } },
  });
  try {
    await vite.listen();
    const dev = `http://127.0.0.1:${(vite.httpServer?.address() as AddressInfo | undefined)?.port}`;
    const told = async (origin: string) =>
      (await fetch(`${dev}/api/fs/content`, { method: "POST", headers: { origin }, body: "x" })).text();
    expect(await told("http://evil.example")).toBe("http://evil.example");
    expect(await told(dev)).toBe(controlPlane);
  } finally {
    await vite.close();
    control.close();
  }
});
