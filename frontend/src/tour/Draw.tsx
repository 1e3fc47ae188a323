import { Trans } from "@lingui/react/macro";
import type { Drawn } from "../api/schema";
import { useWords } from "../store/store";
import { count } from "../store/time";

/** Every draw of the election, the winner first. */
export function Draw({ drawn }: { drawn: Drawn }) {
  const { place, term } = useWords();
  const rows = drawn.draws.toSorted(([, e1, s1, n1], [, e2, s2, n2]) => e2 - e1 || s2 - s1 || n2 - n1);
  const cell = (decides: boolean) => (decides ? "draw-decides" : undefined);
  const [byJournal, byNumber] = [drawn.by === "journal", drawn.by === "number"];
  return (
    <table className="tour-draw" data-testid="tour-draw" data-by={drawn.by}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>server</Trans>
          </th>
          <th scope="col" className={cell(byJournal)}>
            <Trans>journal ends at</Trans>{" "}
            {byJournal && (
              <em>
                <Trans>decides</Trans>
              </em>
            )}
          </th>
          <th scope="col" className={cell(byNumber)}>
            <Trans>number drawn</Trans>{" "}
            {byNumber && (
              <em>
                <Trans>decides</Trans>
              </em>
            )}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([server, epoch, sn, number]) => (
          <tr key={server} data-winner={server === drawn.winner || undefined}>
            <th scope="row">
              {server}
              {server === drawn.winner && (
                <span className="tour-won">
                  <Trans>takes the lock</Trans>
                </span>
              )}
            </th>
            <td className={cell(byJournal)}>
              <Trans>
                {place} {count(sn)} of {term} {epoch}
              </Trans>
            </td>
            <td className={cell(byNumber)}>{count(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
