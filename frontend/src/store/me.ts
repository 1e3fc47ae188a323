/** Who uses the page. A student sees a cluster of their own, so a page without one, or with one that has ended, goes there. */

import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { ApiError, api } from "../api/client";
import { inCluster, shownCluster } from "../api/fleet";
import { useLab } from "./store";

const KEY_ENDED = 401;
const ENDED = msg`The key of this page has ended. Open your link again; in a class, your instructor can give you a new one.`;
let asking = false;

/** Asks the control plane who this is. While it does not answer, the banner of the connection says so. */
export async function knowMe(): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    const { name, cluster, looks_at } = await api.me(shownCluster);
    useLab.setState({ student: name, looksAt: looks_at, refused: "" });
    if (name !== "" && cluster !== shownCluster) await goHome(cluster);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0) return;
    useLab.setState({ refused: error.status === KEY_ENDED ? i18n._(ENDED) : error.message });
  } finally {
    asking = false;
  }
}

/** The same page of the student's own cluster. */
async function goHome(known: string): Promise<void> {
  const name = known === "" ? (await api.openMyCluster()).name : known;
  location.replace(inCluster(location.pathname, name));
}
