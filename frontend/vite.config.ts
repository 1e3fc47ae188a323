import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const controlPlane = process.env.CLOVERLAB_URL ?? "http://127.0.0.1:8080";
const target = new URL(controlPlane);

export default defineConfig({
  plugins: [react()],
  build: { outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1500 },
  server: {
    proxy: {
      "/api": { target: controlPlane, ws: true, headers: { host: target.host, origin: target.origin } },
    },
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    environment: "node",
    passWithNoTests: true,
    testTimeout: 10_000,
  },
});
