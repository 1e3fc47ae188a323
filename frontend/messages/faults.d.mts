interface Entry {
  message?: string;
  translation?: string;
}

export function faultsOf(
  source: Record<string, string>,
  catalogue: Record<string, Entry>,
  isSource: boolean,
): string[];
