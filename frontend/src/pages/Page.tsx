import type { ComponentType } from "react";
import { type PageName, useLab, useWords } from "../store/store";
import { ClusterPage } from "./ClusterPage";
import { CheckpointsPage } from "./checkpoints/CheckpointsPage";
import { ClassPage } from "./class/ClassPage";
import { ComparePage } from "./compare/ComparePage";
import { CoordinationPage } from "./coordination/CoordinationPage";
import { ExplorePage } from "./explore/ExplorePage";
import { LabsPage } from "./labs/LabsPage";
import { NotHere } from "./NotHere";
import { NamespacePage } from "./namespace/NamespacePage";
import { PapersPage } from "./papers/PapersPage";
import { PoolPage } from "./pool/PoolPage";
import { ScenariosPage } from "./scenarios/ScenariosPage";

const PAGES: Record<PageName, ComponentType> = {
  cluster: ClusterPage,
  namespace: NamespacePage,
  pool: PoolPage,
  checkpoints: CheckpointsPage,
  coordination: CoordinationPage,
  scenarios: ScenariosPage,
  compare: ComparePage,
  explore: ExplorePage,
  labs: LabsPage,
  papers: PapersPage,
  class: ClassPage,
};

/** The page of the URL. */
export function Page() {
  const page = useLab((state) => state.page);
  const { lacks } = useWords();
  const Named = lacks.includes(page) ? NotHere : PAGES[page];
  return <Named />;
}
