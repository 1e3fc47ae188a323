import { i18n } from "@lingui/core";
import { I18nProvider, useLingui } from "@lingui/react";
import { Fragment, type ReactNode } from "react";

/** The page in the active language. Another language builds it anew, so that every text is read again. */
export function Translated({ children }: { children: ReactNode }) {
  return (
    <I18nProvider i18n={i18n}>
      <Anew>{children}</Anew>
    </I18nProvider>
  );
}

function Anew({ children }: { children: ReactNode }) {
  const { i18n } = useLingui();
  return <Fragment key={i18n.locale}>{children}</Fragment>;
}
