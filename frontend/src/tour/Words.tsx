import { tourWords } from "../families/glossary";
import { useWords } from "../store/store";

/** The words that the tour uses, before it uses them. */
export function Words() {
  return (
    <dl className="tour-words">
      {tourWords(useWords()).map(([word, says]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}
