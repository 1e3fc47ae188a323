/** Tests read the page in English, as it stands in the source. */

import { i18n } from "@lingui/core";

i18n.loadAndActivate({ locale: "en", messages: {} });
