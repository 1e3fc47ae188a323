import { useEffect } from "react";
import { Toasts } from "../../ui/Toasts";
import { Banner } from "../Banner";
import { Header } from "../Header";
import { Form } from "./Form";
import { Results } from "./Results";
import { open } from "./store";
import "./compare.css";

/** The same workload and the same faults on two to four configurations, side by side. */
export function ComparePage() {
  useEffect(() => {
    void open();
    const onBack = (): void => void open();
    window.addEventListener("popstate", onBack);
    return () => window.removeEventListener("popstate", onBack);
  }, []);
  return (
    <div className="page">
      <Header />
      <Banner />
      <main className="compare">
        <Form />
        <Results />
      </main>
      <Toasts />
    </div>
  );
}
