import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { toControlPlane } from "./devProxy.ts";
import { messages } from "./messages/plugin.ts";

const controlPlane = process.env.CLOVERLAB_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [messages(), react()],
  build: { outDir: "dist", emptyOutDir: true, chunkSizeWarningLimit: 1500 },
  server: { proxy: { "/api": toControlPlane(controlPlane) } },
  test: {
    include: ["src/**/*.test.{ts,tsx}", "messages/*.test.ts", "*.test.ts"],
    environment: "node",
    passWithNoTests: true,
    testTimeout: 120_000,
    setupFiles: ["src/testing/language.ts"],
  },
});
