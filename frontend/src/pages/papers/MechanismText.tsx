import { Trans } from "@lingui/react/macro";
import type { MechanismPage } from "../../api/schema";
import { Lesson, Reading } from "../labs/Lesson";

/** What a mechanism is, in our words, and where the paper has it. */
export function MechanismText({ mechanism }: { mechanism: MechanismPage }) {
  const { page, cites, modelled } = mechanism;
  return (
    <>
      <Lesson page={page} />
      {modelled !== "" && (
        <p className="paper-modelled" data-testid="modelled">
          <strong>
            <Trans>Modelled:</Trans>
          </strong>{" "}
          {modelled}
        </p>
      )}
      <h3>
        <Trans>In the paper</Trans>
      </h3>
      <Reading read={cites} />
    </>
  );
}
