import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { stream } from "../store/connect";
import { useLab } from "../store/store";

/** A lost connection, or a failure of the control plane. */
export function Banner() {
  const connection = useLab((state) => state.connection);
  const trouble = useLab((state) => state.cluster?.trouble ?? "");
  const known = useLab((state) => state.liveRun !== null);
  const refused = useLab((state) => state.refused);
  if (refused !== "" && connection.state !== "live")
    return (
      <div className="banner" role="alert" data-testid="refused">
        <p>{refused}</p>
      </div>
    );
  if (connection.state === "lost") return <Lost known={known} />;
  if (trouble !== "")
    return (
      <div className="banner" role="alert">
        <p>
          <Trans>The cluster did not start: {trouble}</Trans>
        </p>
      </div>
    );
  return null;
}

function Lost({ known }: { known: boolean }) {
  const { since_ms, retry_at_ms } = useLab((state) => state.connection);
  const [now_ms, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const gone_s = Math.max(0, Math.round((now_ms - since_ms) / 1000));
  const wait_s = Math.max(0, Math.ceil((retry_at_ms - now_ms) / 1000));
  return (
    <div className="banner" role="alert" data-testid="lost">
      <p>
        <strong>
          <Trans>No connection to the control plane</Trans>
        </strong>
        <span aria-hidden="true">
          {" "}
          {wait_s > 0 ? t`for ${gone_s} s. Trying again in ${wait_s} s.` : t`for ${gone_s} s. Trying again…`}
        </span>
        {known && ` ${t`The picture is the last one that came.`}`}
      </p>
      <button type="button" className="pill" onClick={() => stream.retryNow()}>
        <Trans>Try now</Trans>
      </button>
    </div>
  );
}
