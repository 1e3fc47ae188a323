import { useLab } from "../store/store";
import { ClusterPage } from "./ClusterPage";
import { NamespacePage } from "./namespace/NamespacePage";

/** The page that the URL names. */
export function Page() {
  return useLab((state) => state.page) === "namespace" ? <NamespacePage /> : <ClusterPage />;
}
