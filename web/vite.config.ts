import { defineConfig } from "vite";

// Assets are named relatively, so that the page also works behind a proxy that serves it under a path.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../crates/relatum-server/page",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    // Below this size Vite would write assets into the style sheet as data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/healthz", "/openapi.json", "/docs", "/sparql"].map((path) => [path, process.env.RELATUM_URL ?? "http://127.0.0.1:7878"]),
    ),
  },
});
