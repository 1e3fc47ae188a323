/** Language of the page's own texts. English stands in the source; another catalogue is loaded when it is chosen. */

import { i18n, type Messages } from "@lingui/core";

export const LANGUAGES = { en: "English", "zh-CN": "简体中文" } as const;

export type Language = keyof typeof LANGUAGES;

// The build compiles every message that has placeholders; what is left is plain text.
i18n.setMessagesCompiler((text) => [text]);

const KEPT = "cloverlab-language";

const CATALOGUES: Record<Exclude<Language, "en">, () => Promise<{ messages: Messages }>> = {
  "zh-CN": () => import("../locales/zh-CN.po"),
};

function isLanguage(text: string | null): text is Language {
  return text !== null && text in LANGUAGES;
}

/** The kept choice; without one, Chinese where the browser prefers it, and English elsewhere. */
export function preferred(kept: string | null, browser: string): Language {
  if (isLanguage(kept)) return kept;
  return /^zh\b/i.test(browser) ? "zh-CN" : "en";
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

async function activate(language: Language): Promise<void> {
  const messages = language === "en" ? {} : (await CATALOGUES[language]()).messages;
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
}

/** Activates the preferred language. A catalogue that cannot be loaded leaves the page in English. */
export async function beginLanguage(): Promise<void> {
  await activate(preferred(kept(), navigator.language)).catch(() => activate("en"));
}

/** Shows the page in this language, now and at the next visits. Rejects when its catalogue cannot be loaded. */
export async function chooseLanguage(language: Language): Promise<void> {
  await activate(language);
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // Without the browser's storage the choice lasts until the page is left.
  }
}
