/** The logo: four leaves. */
export function Clover() {
  return (
    <svg className="clover" viewBox="0 0 32 32" width="1.9rem" height="1.9rem" aria-hidden="true">
      {[0, 90, 180, 270].map((turn) => (
        <path
          key={turn}
          transform={`rotate(${turn} 16 16)`}
          d="M16 15.2C9.2 12.6 8.6 7.4 11 5.2c2-1.8 4.3-.8 5 1.2.7-2 3-3 5-1.2 2.4 2.2 1.800 7.400-5 10z"
        />
      ))}
    </svg>
  );
}
