import type { ComponentType } from "react";
import { type PageName, useLab } from "../store/store";
import { ClusterPage } from "./ClusterPage";
import { CheckpointsPage } from "./checkpoints/CheckpointsPage";
import { ComparePage } from "./compare/ComparePage";
import { NamespacePage } from "./namespace/NamespacePage";
import { PoolPage } from "./pool/PoolPage";

const PAGES: Record<PageName, ComponentType> = {
  cluster: ClusterPage,
  namespace: NamespacePage,
  pool: PoolPage,
  checkpoints: CheckpointsPage,
  compare: ComparePage,
};

/** The page that the URL names. */
export function Page() {
  const Named = PAGES[useLab((state) => state.page)];
  return <Named />;
}
