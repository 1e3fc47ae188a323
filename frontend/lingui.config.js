import { formatter } from "@lingui/format-po";

/** Catalogue of the page's texts: English stands in the source, other languages in src/locales. */
export default {
  sourceLocale: "en",
  locales: ["en", "zh-CN"],
  catalogs: [
    {
      path: "<rootDir>/src/locales/{locale}",
      include: ["<rootDir>/src"],
      exclude: ["**/*.test.*", "**/testing/**"],
    },
  ],
  format: formatter({ lineNumbers: false, origins: true }),
  orderBy: "origin",
  compileNamespace: "es",
};
