/** Reason for which an action was refused; empty without a refusal. */
export function Failed({ why, testId }: { why: string; testId?: string }) {
  return why === "" ? null : (
    <p className="act-failed" role="alert" data-testid={testId}>
      {why}
    </p>
  );
}
