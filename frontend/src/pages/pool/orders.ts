/** Orders of a person to the storage pool. */

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { refusesLooker } from "../../actions/looking";
import { perform, verbNamed } from "../../actions/perform";
import { api } from "../../api/client";
import type { PoolOrder } from "../../api/schema";
import { complain, toast } from "../../store/toasts";
import { JOURNAL } from "./volume";

export const ORDERS: {
  do: PoolOrder["do"];
  label: MessageDescriptor;
  key: string;
  reported: (server: string) => string;
}[] = [
  {
    do: "check",
    label: msg`Compare all replicas`,
    key: "K",
    reported: (server) => t`${server} has every node read all its files again, and compares`,
  },
  {
    do: "image",
    label: msg`Take an image`,
    key: "I",
    reported: (server) => t`${server} has a standby take an image`,
  },
];

export async function order(group: string, what: PoolOrder["do"]): Promise<void> {
  if (refusesLooker()) return;
  try {
    const { server } = await api.orderPool({ group, do: what });
    toast(ORDERS.find((each) => each.do === what)?.reported(server) ?? server);
  } catch (error) {
    complain(error);
  }
}

/** The fault that damages files, where there is one. */
function damageVerb() {
  return verbNamed("corrupt");
}

/** Damages the journal or the newest image on a node's disk. */
export async function damage(node: string, row: string): Promise<void> {
  const file = damageVerb()?.options.find(({ name }) => name === "what");
  if (file !== undefined)
    await perform("corrupt", [node], { [file.name]: row === JOURNAL ? JOURNAL : "image" });
}
