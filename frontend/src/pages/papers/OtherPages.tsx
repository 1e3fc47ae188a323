import type { MechanismPage } from "../../api/schema";
import { type PageName, useLab } from "../../store/store";
import { addressOf, goTo } from "../../store/url";
import { followed } from "../followed";

type Place = MechanismPage["look"][number];
const LABELS: Partial<Record<Place & PageName, string>> = {
  namespace: "Namespace",
  pool: "Storage pool",
  checkpoints: "Checkpoints",
  coordination: "Coordination",
};

/** Links to the other pages of this cluster that show the mechanism. */
export function OtherPages({ look }: { look: readonly Place[] }) {
  const there = (Object.entries(LABELS) as [Place & PageName, string][]).filter(([page]) =>
    look.includes(page),
  );
  if (there.length === 0) return null;
  return (
    <p className="paper-look">
      Look also at{" "}
      {there.map(([page, label]) => (
        <OtherPage key={page} page={page} label={label} />
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
