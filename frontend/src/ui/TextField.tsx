import type { ComponentProps } from "react";

interface Props extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  testId?: string;
  onChange: (text: string) => void;
}

/** A line of text that is a name or a path: neither spelled nor completed by the browser. */
export function TextField({ label, testId, onChange, ...rest }: Props) {
  return (
    <label>
      {label}
      <input
        {...rest}
        spellCheck={false}
        autoComplete="off"
        data-testid={testId}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
