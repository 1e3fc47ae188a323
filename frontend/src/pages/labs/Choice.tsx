import type { LabQuestion } from "../../api/schema";

interface Props {
  id: string;
  question: LabQuestion;
  answer: string;
  onAnswer: (answer: string) => void;
}

/** The field of one prediction: a number with its unit, or one of several texts. */
export function Choice({ id, question, answer, onAnswer }: Props) {
  const choices = Object.entries(question.choices);
  if (choices.length === 0)
    return (
      <label className="lab-number fields">
        <input
          type="number"
          step="any"
          required
          aria-labelledby={`text-${id}`}
          value={answer}
          data-testid={`answer-${id}`}
          onChange={(event) => onAnswer(event.currentTarget.value)}
        />{" "}
        {question.unit}
      </label>
    );
  return (
    <fieldset className="lab-choices" aria-labelledby={`text-${id}`}>
      {choices.map(([value, text]) => (
        <label key={value}>
          <input
            type="radio"
            name={id}
            required
            value={value}
            checked={answer === value}
            data-testid={`answer-${id}-${value}`}
            onChange={() => onAnswer(value)}
          />{" "}
          {text}
        </label>
      ))}
    </fieldset>
  );
}
