import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { ActionIcon, Menu } from "@mantine/core";
import { chooseLanguage, LANGUAGES, type Language } from "../language/language";
import { complain } from "../store/toasts";

/** The language of the page's own texts; each is named in itself. */
export function LanguageMenu() {
  const choose = async (language: Language): Promise<void> => {
    try {
      await chooseLanguage(language);
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Menu position="bottom-end" shadow="lg">
      <Menu.Target>
        <ActionIcon
          variant="default"
          size="2.4rem"
          aria-label={t`Language`}
          title={t`Language`}
          data-testid="language"
        >
          <svg viewBox="0 0 20 20" width="1.1rem" height="1.1rem" aria-hidden="true">
            <g fill="none" stroke="currentColor" strokeWidth="1.6">
              <circle cx="10" cy="10" r="7.2" />
              <ellipse cx="10" cy="10" rx="3.2" ry="7.2" />
              <path d="M2.8 10H17.2" />
            </g>
          </svg>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(LANGUAGES) as Language[]).map((language) => (
          <Menu.Item
            key={language}
            lang={language}
            aria-current={language === i18n.locale || undefined}
            data-testid={`language-${language}`}
            onClick={() => void choose(language)}
          >
            {LANGUAGES[language]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
