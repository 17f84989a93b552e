import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import preact from "@preact/preset-vite";
import { defineConfig, type Plugin } from "vite";

const SMALLEST = 1024;

/** Each file of text also compressed, once, at build time: the gateway sends it as it lies. */
function compressed(): Plugin {
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path);
      else if (/\.(js|css|html|svg)$/.test(name) && statSync(path).size >= SMALLEST) {
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    }
  };
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      folder = config.build.outDir;
    },
    closeBundle() {
      walk(folder);
    },
  };
}

export default defineConfig({
  plugins: [preact(), compressed()],
  // The page is served with a policy that forbids inline scripts, styles and data: URLs of code.
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    // What a page says of its own parts is nested below it; browsers of 2022 get it written out.
    cssTarget: "chrome105",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
});
