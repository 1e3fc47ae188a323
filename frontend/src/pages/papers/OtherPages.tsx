import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { MechanismPage } from "../../api/schema";
import { type PageName, useLab } from "../../store/store";
import { addressOf, goTo } from "../../store/url";
import { followed } from "../followed";

type Place = MechanismPage["look"][number];
const LABELS: Partial<Record<Place & PageName, MessageDescriptor>> = {
  namespace: msg`Namespace`,
  pool: msg`Storage pool`,
  checkpoints: msg`Checkpoints`,
  coordination: msg`Coordination`,
};

/** Links to the other pages of this cluster that show the mechanism. */
export function OtherPages({ look }: { look: readonly Place[] }) {
  const there = (Object.entries(LABELS) as [Place & PageName, MessageDescriptor][]).filter(([page]) =>
    look.includes(page),
  );
  if (there.length === 0) return null;
  return (
    <p className="paper-look">
      <Trans>Look also at</Trans>{" "}
      {there.map(([page, label]) => (
        <OtherPage key={page} page={page} label={i18n._(label)} />
      ))}
    </p>
  );
}

function OtherPage({ page, label }: { page: PageName; label: string }) {
  const address = useLab((state) => addressOf(page, state));
  return (
    <a className="pill" href={address} data-testid={`look-${page}`} onClick={followed(() => goTo(page))}>
      {label}
    </a>
  );
}
