import { t } from "@lingui/core/macro";
import { type ReactNode, useCallback, useState } from "react";
import { LookingBanner } from "../actions/LookingLine";
import { Palette } from "../palette/Palette";
import { isLive, useLab } from "../store/store";
import { Toasts } from "../ui/Toasts";
import { Banner } from "./Banner";
import { Header } from "./Header";
import { Help } from "./Help";
import { Invariants } from "./Invariants";
import { MomentBar } from "./MomentBar";
import { TimeControl } from "./TimeControl";
import { useKeys } from "./useKeys";

interface Props {
  /** Stands before the control of time. */
  runs?: ReactNode;
  /** In the place of the ordinary banner. */
  banner?: ReactNode;
  children: ReactNode;
}

/** The frame of a page with the picture of a cluster: a frame with its time, its invariants and all its keys. */
export function ClusterFrame({ runs, banner = <Banner />, children }: Props) {
  const [help, setHelp] = useState(false);
  const live = useLab(isLive);
  useKeys(useCallback(() => setHelp((shown) => !shown), []));
  return (
    <div className="page">
      <Header onHelp={() => setHelp(true)} />
      <LookingBanner />
      <div className="strip">
        {runs}
        <TimeControl />
        <nav aria-label={t`Invariants`}>
          <Invariants />
        </nav>
      </div>
      {!live && <MomentBar />}
      {banner}
      {children}
      <Help opened={help} onClose={() => setHelp(false)} />
      <Palette />
      <Toasts />
    </div>
  );
}
