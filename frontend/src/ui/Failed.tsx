/** Why an act was refused; nothing while it was not. */
export function Failed({ why, testId }: { why: string; testId?: string }) {
  return why === "" ? null : (
    <p className="act-failed" role="alert" data-testid={testId}>
      {why}
    </p>
  );
}
