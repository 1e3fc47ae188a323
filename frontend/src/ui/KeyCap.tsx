export function KeyCap({ children }: { children: string }) {
  return <kbd className="keycap">{children}</kbd>;
}
