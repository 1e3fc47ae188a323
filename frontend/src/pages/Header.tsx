import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { onlyLooks, useLab } from "../store/store";
import { goTo } from "../store/url";
import { openTour } from "../tour/store";
import { Clover } from "../ui/Clover";
import { KeyCap } from "../ui/KeyCap";
import { ClockBar } from "./ClockBar";
import { ClusterMenu } from "./ClusterMenu";
import { FaultsInForce } from "./FaultsInForce";
import { LanguageMenu } from "./LanguageMenu";
import { PageLinks } from "./PageLinks";
import { Throttle } from "./Throttle";
import { WaitUntil } from "./until/WaitUntil";

/** Name, fabric, page and workload of the cluster, the tour and the keys. */
export function Header({ onHelp }: { onHelp: () => void }) {
  const cluster = useLab((state) => state.cluster);
  const looks = useLab(onlyLooks);
  return (
    <header className="header">
      <h1 className="brand">
        <Clover />
        <span>
          <span className="brand-house">Cloverlab</span>
          <ClusterMenu />
        </span>
      </h1>
      {cluster !== null && cluster.holes.length > 0 && (
        <p className="header-holes" data-testid="holes" title={cluster.holes.join(", ")}>
          {cluster.variant === "paper" ? (
            <Trans>
              Unsafe on purpose: started <b>as the paper has it</b>, with {cluster.holes.length} holes
            </Trans>
          ) : (
            <Trans>
              Unsafe on purpose: started with the{" "}
              <Plural value={cluster.holes.length} one="hole" other="holes" />{" "}
              <b>{cluster.holes.join(", ")}</b>
            </Trans>
          )}
        </p>
      )}
      <PageLinks />
      <div className="header-tools">
        <FaultsInForce />
        <ClockBar />
        <WaitUntil />
        <Throttle />
        <SchemeSwitch />
        <LanguageMenu />
        {!looks && (
          <button
            type="button"
            className="pill"
            title={t`Cause a failover, and see what happens in it`}
            data-testid="tour"
            onClick={() => {
              goTo("cluster");
              openTour();
            }}
          >
            <Trans>Tour</Trans>
          </button>
        )}
        <ActionIcon
          variant="default"
          size="2.4rem"
          aria-label={t`Keys and words`}
          title={t`Keys and words (?)`}
          onClick={onHelp}
        >
          <KeyCap>?</KeyCap>
        </ActionIcon>
      </div>
    </header>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const other = scheme === "light" ? "dark" : "light";
  const label = other === "dark" ? t`Use dark colours` : t`Use light colours`;
  return (
    <ActionIcon
      variant="default"
      size="2.4rem"
      aria-label={label}
      title={label}
      data-testid="scheme"
      onClick={() => setColorScheme(other)}
    >
      <svg viewBox="0 0 20 20" width="1.1rem" height="1.1rem" aria-hidden="true">
        <circle cx="10" cy="10" r="7.2" fill="none" stroke="currentColor" strokeWidth="1.6" />
        <path d="M10 2.8a7.2 7.2 0 0 1 0 14.4Z" fill="currentColor" />
      </svg>
    </ActionIcon>
  );
}
