import { useEffect } from "react";
import { Frame } from "../Frame";
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
    <Frame>
      <main className="compare">
        <Form />
        <Results />
      </main>
    </Frame>
  );
}
